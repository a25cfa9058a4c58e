"""Load the formats that only a course's own programs print, from its rubric or another file."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autograder.errors import SettingsError
from autograder.reading.formats import template
from autograder.reading.formats.reader import Reader
from autograder.settings.strict_yaml import read_model


class OwnFormat(BaseModel):
    """A format that a course defines for its own programs (docs/formats-read.md)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    templates: list[str] = []  # lines as the program prints them, with {fields}

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        self.reader()
        return self

    def reader(self) -> Reader:
        return template.load_reader(self.name, self.templates)


class Formats(BaseModel):
    """The `formats:` section of a file, which may be a whole rubric."""

    model_config = ConfigDict(strict=True)

    formats: list[OwnFormat] | None = Field(None, min_length=1)


def load_formats(path: Path) -> list[Reader]:
    """Return readers for the formats that a file defines."""
    section, _ = read_model(path, Formats)
    if section.formats is None:
        raise SettingsError(f"{path}:1: the file has no `formats:`; see docs/formats-read.md")
    return [own.reader() for own in section.formats]
