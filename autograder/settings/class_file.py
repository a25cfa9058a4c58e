"""Read class.yaml, which contains all settings for grading a class.

Paths in this file are relative to its folder. docs/grading.md describes every field.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import PERCENT, Profile, Strict
from autograder.settings.strict_yaml import line_of, read_model, reason

NAME = "class.yaml"


def existing(kind: str, is_there: Callable[[Path], bool]) -> Callable[[str, ValidationInfo], Path]:
    """Return a function that converts a text to a path and checks that it exists."""

    def path_of(text: str, info: ValidationInfo) -> Path:
        path = Path(info.context or "") / Path(text).expanduser()
        if not is_there(path):
            raise ValueError(f"there is no {kind} {shortened(path)}")
        return path

    return path_of


file, folder = existing("file", os.path.isfile), existing("folder", os.path.isdir)


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown timezone {name!r}: use a name like Europe/Berlin") from None


File = Annotated[str, AfterValidator(file)]
Folder = Annotated[str, AfterValidator(folder)]


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
    by: Literal["hand-in", "submit"] = "hand-in"  # submit: when the jobs were submitted
    grace: int = Field(default=2, ge=0)  # days after the due time, for outputs of such jobs


class ClassFields(Strict):
    """The contents of class.yaml. Its paths are relative to the folder in the context."""

    title: str | None = None  # of all pages
    term_key: str | None = None  # makes the questions that students draw differ between terms
    profile: Profile | None = None
    rubrics: Folder | None = None
    expected: Folder | None = None
    released: Folder | None = None
    roster: File | None = None
    groups: File | None = None
    timezone: Annotated[str, AfterValidator(zone)] | None = None
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

    @property
    def given(self) -> dict[str, Any]:
        """Return the fields that were set, with files and folders as paths."""
        values = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in values.items() if value is not None}


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
    fields, lines = read_model(path, ClassFields, context=path.parent)
    return ClassFile(path, fields.given, lines)


def read_words(words: Iterable[str]) -> dict[str, Any]:
    """Return the fields in words like `profile=smoke`. Paths are relative to the current folder."""
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise SettingsError(f"--set {shortened(word)}: write FIELD=VALUE, as in profile=smoke")
        try:
            fields = {name: [value] if name == "moodle" else value}
            given |= ClassFields.model_validate(fields, context=Path()).given
        except ValidationError as error:
            wrong = reason(error, ClassFields).removeprefix(f"{name}: ")
            raise SettingsError(f"--set {shortened(word)}: {wrong}") from None
    return given


def class_file_of(folder: Path) -> Path | None:
    """Return the class.yaml of a class's folder, if it has one."""
    path = folder / NAME
    return path if os.path.isfile(path) else None
