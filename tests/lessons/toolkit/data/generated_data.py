"""Small data sets in the real formats, with a catalogue of their own."""

import gzip
import hashlib
import io
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


def cifar_bytes(pixels: np.ndarray, labels: list[int]) -> bytes:
    """Return a batch as pickled by Python 2: strings of bytes, an array by _reconstruct."""

    def text(value: bytes) -> bytes:
        return b"U" + bytes([len(value)]) + value

    raw = pixels.tobytes()
    shape = b"M" + struct.pack("<H", len(pixels)) + b"M" + struct.pack("<H", 3072) + b"\x86"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85" + text(b"b")
        + b"\x87Rq\x09(K\x01" + shape
        + b"cnumpy\ndtype\nq\x0a" + text(b"u1") + b"K\x00K\x01\x87Rq\x0b(K\x03" + text(b"|")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        + struct.pack("<I", len(raw)) + raw + b"tb"
    )  # fmt: skip
    numbers = b"".join(b"K" + bytes([label]) for label in labels)
    names = b"".join(text(b"picture.png") for _ in labels)
    return (
        b"\x80\x02}q\x01(" + text(b"batch_label") + text(b"a batch") + text(b"labels")
        + b"]q\x05(" + numbers + b"e" + text(b"data") + array + text(b"filenames")
        + b"](" + names + b"eu."
    )  # fmt: skip


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
    return cifar_bytes(planes, arrays[f"y_{split}"][part].tolist())


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
