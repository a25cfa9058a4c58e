"""Hash program texts, so that a run record and the grader identify the same file."""

import re
from hashlib import blake2b
from pathlib import Path

DIGITS = 16
# A string in triple quotes, or what may contain such quotes without beginning one. Unfinished ones
# match too, so that the search takes linear time.
STRINGS = re.compile(
    rb"""(?P<long>"{3}|'{3})(?:\\.|[^\\]|\\\Z)*?(?:(?P=long)|\Z)"""
    rb"""|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?|\#[^\r\n]*""",
    re.DOTALL,
)
HASH_SIGN = re.compile(rb"(?<=[\r\n])(?=[^\S\r\n]*#)")
MARK = b"\0"  # is in no program


def text_hash(data: bytes) -> str:
    """Return the hash of a program's lines.

    Line endings, trailing spaces, blank lines and lines with only a comment make no difference.
    """
    if b'"""' in data or b"'''" in data:
        # In a string, a line that begins with # is no comment. The mark keeps it.
        data = STRINGS.sub(marked, data)
    lines = (line.rstrip() for line in data.splitlines())
    kept = (line for line in lines if line and not line.lstrip().startswith(b"#"))
    return blake2b(b"\n".join(kept).replace(MARK, b"")).hexdigest()[:DIGITS]


def marked(string: re.Match[bytes]) -> bytes:
    """Return the string. In triple quotes, each # that begins a line gets a mark."""
    return HASH_SIGN.sub(MARK, string[0]) if string["long"] else string[0]


def folder_hash(folder: Path) -> str:
    """Return one hash of all Python files below a folder, except editors' hidden files."""
    lines = []
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(".") and "/." not in name:
            lines.append(f"{name} {text_hash(path.read_bytes())}")
    return text_hash("\n".join(sorted(lines)).encode("utf-8", "surrogateescape"))
