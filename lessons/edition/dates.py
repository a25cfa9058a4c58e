"""Find the dates of the course's files in git, because cloning gives all files the same date."""

import subprocess
from collections.abc import Iterable
from pathlib import Path


def dates_of(root: Path, names: Iterable[str]) -> dict[str, float]:
    """Return the date of each file's last commit, in seconds since 1970.

    If a file is new or has changed since, return its modification time.
    """
    committed = commit_dates(root)
    for name in changed_since(root):
        committed.pop(name, None)
    return {
        name: committed[name] if name in committed else (root / name).stat().st_mtime
        for name in names
    }


def commit_dates(root: Path) -> dict[str, float]:
    """Return the dates of files' last commits. A merge counts only for its own changes."""
    found: dict[str, float] = {}
    when = 0.0
    words = ("log", "--format=%x00%ct", "--name-only", "-z", "--no-renames", "--relative")
    for part in git(root, *words).replace("\n", "\0").split("\0"):
        if part.isdigit():
            when = float(part)
        elif part:
            found.setdefault(part, when)
    return found


def changed_since(root: Path) -> list[str]:
    return git(root, "diff", "--name-only", "-z", "--relative", "HEAD").split("\0")


def git(root: Path, *words: str) -> str:
    """Return the output of git; empty without git or outside a clone."""
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
