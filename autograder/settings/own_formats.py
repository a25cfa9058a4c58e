"""Load the formats that only a course's own programs print, from its rubric or another file."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from autograder.errors import SettingsError
from autograder.reading.formats import template
from autograder.reading.formats.reader import Reader
from autograder.settings.strict_yaml import complaints, read_yaml


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OwnFormat(Strict):
    """A format that a course defines for its own programs (docs/formats-read.md)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    templates: list[str] = []  # lines as the program prints them, with {fields}

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        self.reader()
        return self

    def reader(self) -> Reader:
        return template.load_reader(self.name, self.templates)


class Formats(Strict):
    formats: list[OwnFormat] = Field(min_length=1)


def load_formats(path: Path) -> list[Reader]:
    """Return readers for the `formats:` section of a file, which may be a whole rubric."""
    data, lines = read_yaml(path)
    if not isinstance(data, dict) or "formats" not in data:
        raise SettingsError(f"{path}:1: the file has no `formats:`; see docs/formats-read.md")
    try:
        known = Formats.model_validate({"formats": data["formats"]})
    except ValidationError as error:
        raise SettingsError(complaints(path, error, Formats, lines)) from None
    return [own.reader() for own in known.formats]
