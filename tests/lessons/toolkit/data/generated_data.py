"""Small data sets in the real formats, with a catalogue of their own."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TRAIN, TEST = 120, 40
PER_BATCH = TRAIN // 5


def idx_bytes(array: np.ndarray) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return struct.pack(">HBB", 0, 8, array.ndim) + sizes + array.tobytes()


def tar_bytes(files: dict[str, bytes], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@dataclass(frozen=True, repr=False)
class World:
    """The generated sets: the files' bytes by name, the right arrays, and a folder for packs."""

    folder: Path
    catalogue: Path
    mnist: dict[str, bytes]
    cifar: dict[str, bytes]
    arrays: dict[str, dict[str, np.ndarray]]

    def packs(self) -> dict[str, bytes]:
        """Return the packs as on a mirror: address below the root → bytes."""
        single = {f"mnist/{name}.gz": pack(data) for name, data in self.mnist.items()}
        return single | {"cifar10/cifar-10-python.tar.gz": pack(tar_bytes(self.cifar))}

    def lay_out(self, root: Path) -> Path:
        """Write the packs as files below `root`."""
        for name, data in self.packs().items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return root


def pack(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def make_world(folder: Path) -> World:
    rng = np.random.default_rng(5)
    arrays: dict[str, dict[str, np.ndarray]] = {"mnist": {}, "cifar10": {}}
    for split, count in (("train", TRAIN), ("test", TEST)):
        for name, image in (("mnist", (28, 28)), ("cifar10", (32, 32, 3))):
            x = rng.integers(256, size=(count, *image), dtype=np.uint8)
            y = rng.permutation(np.arange(count) % 10)
            arrays[name] |= {f"x_{split}": x, f"y_{split}": y}
    mnist = {}
    for split, prefix in (("train", "train"), ("test", "t10k")):
        mnist[f"{prefix}-images-idx3-ubyte"] = idx_bytes(arrays["mnist"][f"x_{split}"])
        labels = arrays["mnist"][f"y_{split}"].astype(np.uint8)
        mnist[f"{prefix}-labels-idx1-ubyte"] = idx_bytes(labels)
    cifar = {}
    for i in range(5):
        part = slice(i * PER_BATCH, (i + 1) * PER_BATCH)
        cifar[f"cifar-10-batches-py/data_batch_{i + 1}"] = batch(arrays["cifar10"], "train", part)
    cifar["cifar-10-batches-py/test_batch"] = batch(arrays["cifar10"], "test", slice(None))
    world = World(folder, folder / "catalogue.toml", mnist, cifar, arrays)
    world.catalogue.write_text(catalogue_text(world))
    return world


def batch(arrays: dict[str, np.ndarray], split: str, part: slice) -> bytes:
    planes = arrays[f"x_{split}"][part].transpose(0, 3, 1, 2).reshape(-1, 3072)
    labels = arrays[f"y_{split}"][part].tolist()
    return pickle.dumps({b"data": planes, b"labels": labels}, protocol=2)


def catalogue_text(world: World) -> str:
    holds = ("x_train", "y_train", "x_test", "y_test")
    lines = table("mnist", "idx", "[28, 28]", '["mnist", "MNIST/raw", "."]')
    for name, hold in zip(world.mnist, holds, strict=True):
        lines += file_lines("mnist.files", name, world.mnist[name], hold)
    lines += table("cifar10", "cifar", "[32, 32, 3]", '["cifar10", "."]')
    for name, data in world.cifar.items():
        lines += file_lines("cifar10.files", name, data, "test" if "test" in name else "train")
    for name, data in world.packs().items():
        entry, file = name.split("/")
        lines += file_lines(f"{entry}.packs", file, data)
    return "\n".join(lines)


def table(name: str, form: str, image: str, folders: str) -> list[str]:
    return [
        f"[{name}]",
        f'title = "{name.upper()}"',
        f'format = "{form}"',
        f"image = {image}",
        f"train_samples = {TRAIN}",
        f"test_samples = {TEST}",
        f"folders = {folders}",
        "mirrors = []",
    ]


def file_lines(where: str, name: str, data: bytes, holds: str = "") -> list[str]:
    digest = hashlib.sha256(data).hexdigest()
    lines = [f"[[{where}]]", f'name = "{name}"', f"bytes = {len(data)}", f'sha256 = "{digest}"']
    return [*lines, f'holds = "{holds}"'] if holds else lines
