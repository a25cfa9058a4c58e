"""Cut the training set into parts, one file each, for ranks that read only their own.

python make_parts.py --train-samples 6400 --parts 8
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from pathlib import Path

import numpy as np

from lessons.toolkit import data


def partition(labels, parts):
    """Return each part's sample indices; its numbers of each class differ by at most one."""
    ### BEGIN SOLUTION Exercise 8.1: a list of indices for each part
    by_class = np.argsort(labels, kind="stable")
    return [np.sort(by_class[part::parts]) for part in range(parts)]
    ### END SOLUTION


def write_parts(x, y, folder, parts):
    """Write part_00.npz … with pixels as bytes. `ids` numbers the samples of all parts."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("part_*.npz"):
        old.unlink()
    first = 0
    for number, indices in enumerate(partition(y, parts)):
        pixels = np.round(x[indices] * 255).astype(np.uint8)
        ids = np.arange(first, first + len(indices))
        path = folder / f"part_{number:02d}.npz"
        np.savez_compressed(path, x=pixels, y=y[indices], ids=ids, total=len(y))
        first += len(indices)
    print(f"{first} images in {parts} files in {folder}/")


def list_parts(folder):
    """Return the names of the parts, in order."""
    return sorted(path.name for path in Path(folder).iterdir() if path.suffix == ".npz")


def load_parts(folder, names):
    """Return these files' images (0 to 1), labels and numbers, and the samples of all parts."""
    parts = [np.load(Path(folder) / name) for name in names]
    x = np.concatenate([part["x"] for part in parts])
    y = np.concatenate([part["y"] for part in parts])
    ids = np.concatenate([part["ids"] for part in parts])
    return x.astype(np.float32) / 255, y, ids, int(parts[0]["total"])


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--parts", type=int, default=8, help="files to write")
    parser.add_argument("--folder", default="data/parts", help="where to write them")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    mnist = data.load("mnist", train_samples=args.train_samples)
    write_parts(mnist.x_train, mnist.y_train, args.folder, args.parts)


if __name__ == "__main__":
    main()
