"""Detect whether this process lists a folder, with Python's audit events."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

LISTINGS = ("os.listdir", "os.scandir")  # glob, pathlib and all others use these
heard: list[str] | None = None  # folders listed while a caller listens
hooks: list[bool] = []  # one hook, once installed: Python cannot remove it


@contextlib.contextmanager
def looking(folder: str | os.PathLike[str]) -> Iterator[list[str]]:
    """Record each listing of the folder, or of a folder inside it, during a `with` block."""
    global heard
    if not hooks:
        hooks.append(True)
        sys.addaudithook(listen)
    looks: list[str] = []
    heard = []
    try:
        yield looks
    finally:
        inside = os.path.join(os.path.abspath(folder), "")
        looks += [place for place in heard if os.path.join(place, "").startswith(inside)]
        heard = None


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    if heard is not None and event in LISTINGS and not isinstance(arguments[0], int):
        place = os.fsdecode(os.fspath(arguments[0] or "."))
        heard.append(os.path.abspath(place))
