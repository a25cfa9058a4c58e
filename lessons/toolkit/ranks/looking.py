"""Whether this process lists a folder: heard from Python itself, which announces it to who asks."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

LISTINGS = ("os.listdir", "os.scandir")  # all others, as glob and pathlib, use these
heard: list[str] | None = None  # folders listed since somebody began to listen; None: nobody does
hooks: list[bool] = []  # one, once it is there: it can never be taken away again


@contextlib.contextmanager
def looking(folder: str | os.PathLike[str]) -> Iterator[list[str]]:
    """The list fills with every look into the folder, or into one below it."""
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
