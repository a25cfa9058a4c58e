"""Read class.yaml, which contains all settings for grading a class.

Paths in this file are relative to its folder. docs/grading.md describes every field.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
)

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.rubric import FOLDER
from autograder.settings.rubric_schema import PERCENT, Profile, Strict
from autograder.settings.strict_yaml import line_of, read_model, reason

NAME = "class.yaml"


def existing(kind: str, is_there: Callable[[Path], bool]) -> BeforeValidator:
    """Return what converts a text to a path and checks that it exists."""

    def path_of(text: object, info: ValidationInfo) -> Path:
        path = Path(info.context or "") / Path(str(text)).expanduser()
        if not is_there(path):
            raise ValueError(f"there is no {kind} {shortened(path)}")
        return path

    return BeforeValidator(path_of)


def zone(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown timezone {name!r}: use a name like Europe/Berlin") from None


File = Annotated[Path, existing("file", os.path.isfile)]
Folder = Annotated[Path, existing("folder", os.path.isdir)]


def share(given: object) -> float:
    """Return the fraction in a percentage such as 10%."""
    percent = PERCENT.fullmatch(str(given).strip())
    if not percent or float(percent[1]) > 100:
        raise ValueError(f"write a percentage of at most 100%, like 10%, not {given!r}")
    return float(percent[1]) / 100


class LatePolicy(Strict):
    """The field `late` of class.yaml."""

    due: dict[str, str] = Field(default={})  # lesson -> ISO time with its offset
    free_days: int = Field(default=0, ge=0)  # late days per student, over all lessons
    penalty_a_day: Annotated[float, BeforeValidator(share)] = 0.0  # of a lesson's points


class ClassFile(Strict):
    """The contents of class.yaml. Its paths are relative to the folder in the context."""

    title: str | None = None  # of all pages
    term_key: str | None = None  # makes the questions that students draw differ between terms
    profile: Profile | None = None
    rubrics: Folder = FOLDER
    expected: Folder | None = None
    released: Folder | None = None
    roster: File | None = None
    groups: File | None = None
    timezone: Annotated[ZoneInfo, PlainValidator(zone)] | None = None
    late: LatePolicy = LatePolicy()
    round: float | None = Field(default=None, gt=0, le=1, strict=False)  # step of a total
    extensions: File | None = None
    overrides: File | None = None
    accounting: File | None = None
    accounting_is: Literal["required"] | None = None
    calibration: File | None = None
    reruns: Folder | None = None
    canvas: File | None = None
    moodle: list[File] = Field(default=[])

    _path: Path | None = None
    _lines: dict[tuple, int] = PrivateAttr(default_factory=dict)

    def where(self, *place: str) -> str:
        """Return the file and the line of a field, or the option that set it."""
        return f"{self._path}:{line_of(self._lines, place)}" if place in self._lines else "--set"


def read_class_file(path: Path | None) -> ClassFile:
    """Return the contents of the file. All files and folders that it names must exist."""
    if path is None:
        return ClassFile()
    file, lines = read_model(path, ClassFile, context=path.parent)
    file._path, file._lines = path, lines
    return file


def read_words(words: Iterable[str]) -> dict[str, Any]:
    """Return the fields in words like `profile=smoke`. Paths are relative to the current folder."""
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise SettingsError(f"--set {shortened(word)}: write FIELD=VALUE, as in profile=smoke")
        try:
            fields = {name: [value] if name == "moodle" else value}
            given[name] = getattr(ClassFile.model_validate(fields, context=Path()), name)
        except ValidationError as error:
            wrong = reason(error).removeprefix(f"{name}: ")
            raise SettingsError(f"--set {shortened(word)}: {wrong}") from None
    return given


def class_file_of(folder: Path) -> Path | None:
    """Return the class.yaml of a class's folder, if it has one."""
    path = folder / NAME
    return path if os.path.isfile(path) else None
