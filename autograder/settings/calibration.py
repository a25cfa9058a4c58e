"""Read the values that the solution reaches on a site, as `autograder calibrate` wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, StrictFloat, TypeAdapter, ValidationError

from autograder.errors import SettingsError
from autograder.measuring.interval import Measure
from autograder.settings.strict_yaml import line_of, read_yaml, reason
from autograder.wording import counted


def on_workers(title: str, workers: int) -> str:
    """Return the calibration key for the solution's value on this number of workers."""
    return f"{title}, on {counted(workers, 'worker')}"


def reference(known: Mapping[str, Measure], title: str, workers: int | None) -> Measure | None:
    """Return the value that the solution reaches on the same number of workers.

    A value for another number of workers is not a reference: two GPUs are not compared with eight.
    If the file gives no numbers of workers, one value applies to all of them.
    """
    if workers is None or not any(name.startswith(f"{title}, on ") for name in known):
        return known.get(title)
    return known.get(on_workers(title, workers))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reference values by lesson and measurement, and reference speedups by program."""

    references: dict[str, dict[str, Measure]] = field(default_factory=dict)
    curves: dict[str, dict[str, tuple[tuple[int, float], ...]]] = field(default_factory=dict)


class Value(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    value: float
    low: float
    high: float
    unit: str


class LessonValues(BaseModel):
    """A lesson's part of the file: values of the solution, and its speedups."""

    model_config = ConfigDict(allow_inf_nan=False)

    values: dict[str, Value]
    speedups: dict[str, dict[int, StrictFloat]] = {}


FILE = TypeAdapter(dict[str, LessonValues])


def read_calibration(path: Path | None) -> Calibration:
    if path is None:
        return Calibration()
    data, lines = read_yaml(path)
    try:
        lessons = FILE.validate_python(data)
    except ValidationError as error:
        line = line_of(lines, error.errors()[0]["loc"])
        raise SettingsError(
            f"{path}:{line}: this is not what `autograder calibrate` writes ({reason(error)}); "
            "write the file again"
        ) from None
    known = Calibration()
    for name, lesson in lessons.items():
        known.references[name] = {t: Measure(**dict(value)) for t, value in lesson.values.items()}
        gains = lesson.speedups.items()
        known.curves[name] = {program: tuple(sorted(gain.items())) for program, gain in gains}
    return known
