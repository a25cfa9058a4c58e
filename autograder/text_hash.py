"""Hashes of program texts, by which a run record and a grader name the same file."""

from collections.abc import Iterable
from hashlib import blake2b

DIGITS = 16


def text_hash(data: bytes) -> str:
    """Of a text's lines: how they end, and whether the last one does, makes no difference."""
    return blake2b(b"\n".join(data.splitlines())).hexdigest()[:DIGITS]


def texts_hash(texts: Iterable[tuple[str, bytes]]) -> str:
    """One hash of several texts with their names, in whatever order they come."""
    lines = sorted(f"{name} {text_hash(data)}" for name, data in texts)
    return text_hash("\n".join(lines).encode("utf-8", "surrogateescape"))
