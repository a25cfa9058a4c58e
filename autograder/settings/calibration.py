"""Read the values that the solution reaches on a site, as `autograder calibrate` wrote them."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

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


class Value(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    value: float
    low: float
    high: float
    unit: str


class LessonValues(BaseModel):
    """A lesson's part of the file."""

    values: dict[str, Value]


FILE = TypeAdapter(dict[str, LessonValues])


def read_calibration(path: Path | None) -> dict[str, dict[str, Measure]]:
    """Return the reference values by lesson and measurement."""
    if path is None:
        return {}
    data, lines = read_yaml(path)
    try:
        lessons = FILE.validate_python(data)
    except ValidationError as error:
        line = line_of(lines, error.errors()[0]["loc"])
        raise SettingsError(
            f"{path}:{line}: this is not what `autograder calibrate` writes ({reason(error)}); "
            "write the file again"
        ) from None
    return {
        name: {title: Measure(**dict(value)) for title, value in lesson.values.items()}
        for name, lesson in lessons.items()
    }
