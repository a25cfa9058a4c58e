"""Read class.yaml, which contains all settings for grading a class.

Paths in this file are relative to its folder. docs/class-settings.md describes every field.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.policy import LatePolicy
from autograder.settings.rubric_schema import Profile
from autograder.settings.strict_yaml import complaints, line_of, read_yaml

NAME = "class.yaml"
FOLDERS = ("rubrics", "expected", "released", "reruns")


class ClassFields(BaseModel):
    """The contents of class.yaml. File and folder names are still plain strings, not paths."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    title: str | None = None  # of all pages
    profile: Profile | None = None
    rubrics: str | None = None
    expected: str | None = None
    released: str | None = None
    roster: str | None = None
    groups: str | None = None
    timezone: str | None = None
    late: LatePolicy = LatePolicy()
    extensions: str | None = None
    overrides: str | None = None
    regrades: str | None = None
    accounting: str | None = None
    calibration: str | None = None
    reruns: str | None = None
    leaderboard: str | None = None
    canvas: str | None = None
    moodle: list[str] = []
    junit: bool = False


FILES = (
    *("roster", "groups", "extensions", "overrides", "regrades"),
    *("accounting", "calibration", "leaderboard", "canvas"),
)


@dataclass(frozen=True, slots=True)
class ClassFile:
    """The fields that a class.yaml sets, with its files as paths, and the line of each field."""

    path: Path | None = None
    given: dict[str, Any] = field(default_factory=dict)
    lines: dict[tuple, int] = field(default_factory=dict)

    def where(self, *place: str) -> str:
        """Return the file and the line of a field."""
        return f"{self.path}:{line_of(self.lines, place)}"


def read_class_file(path: Path | None) -> ClassFile:
    """Return the fields that are set in the file.

    All files and folders that the class file names must exist.
    """
    if path is None:
        return ClassFile()
    data, lines = read_yaml(path)
    try:
        fields = ClassFields.model_validate(data or {})
    except ValidationError as error:
        raise SettingsError(complaints(path, error, ClassFields, lines)) from None
    read = ClassFile(path, lines=lines)
    read.given.update(with_paths(fields, path.parent, read.where))
    return read


def read_words(words: Iterable[str]) -> dict[str, Any]:
    """Return the fields in words like `junit=true`. Paths are relative to the current folder."""
    given: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in ClassFields.model_fields:
            near = get_close_matches(name, ClassFields.model_fields, 1)
            hint = f"did you mean {near[0]}?" if near else "docs/class-settings.md lists all"
            raise SettingsError(f"--set {shortened(word)}: no such field; {hint}")
        data: object = value == "true" if value in ("true", "false") else value
        try:
            fields = ClassFields.model_validate({name: [value] if name == "moodle" else data})
        except ValidationError as error:
            wrong = complaints(Path("--set"), error, ClassFields, {(): 1})
            raise SettingsError(wrong.replace("--set:1", f"--set {shortened(word)}")) from None
        given |= with_paths(fields, Path(), lambda *_, word=word: f"--set {shortened(word)}")
    return given


def with_paths(fields: ClassFields, base: Path, where: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields that were given.

    Names of files and folders are replaced by paths that exist.
    """
    values = {name: getattr(fields, name) for name in fields.model_fields_set}
    given = {name: value for name, value in values.items() if value is not None}

    def path_of(text: str, name: str) -> Path:
        path, kind = base / Path(text).expanduser(), "folder" if name in FOLDERS else "file"
        if not (os.path.isdir(path) if kind == "folder" else os.path.isfile(path)):
            raise SettingsError(f"{where(name)}: there is no {kind} {shortened(str(path))}")
        return path

    for name, value in given.items():
        if name == "moodle":
            given[name] = tuple(path_of(one, name) for one in value)
        elif name in FILES or name in FOLDERS:
            given[name] = path_of(value, name)
    return given


def class_file_of(folder: Path) -> Path | None:
    """Return the class.yaml of a class's folder, if it has one."""
    path = folder / NAME
    return path if os.path.isfile(path) else None
