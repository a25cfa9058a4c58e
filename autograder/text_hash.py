"""Hashes of program texts, by which a run record and a grader name the same file."""

from hashlib import blake2b
from pathlib import Path

DIGITS = 16


def text_hash(data: bytes) -> str:
    """Of a text's lines: how they end, and whether the last one does, makes no difference."""
    return blake2b(b"\n".join(data.splitlines())).hexdigest()[:DIGITS]


def folder_hash(folder: Path) -> str:
    """One hash of all Python files below a folder, but for what editors leave in hidden ones."""
    lines = []
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(".") and "/." not in name:
            lines.append(f"{name} {text_hash(path.read_bytes())}")
    return text_hash("\n".join(sorted(lines)).encode("utf-8", "surrogateescape"))
