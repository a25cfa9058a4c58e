"""Read the values that the solution reaches on a site, as `autograder calibrate` wrote them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, RootModel

from autograder.measuring.interval import Measure
from autograder.settings.strict_yaml import read_model
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


Calibration = RootModel[dict[str, dict[Literal["values"], dict[str, Value]]]]


def read_calibration(path: Path | None) -> dict[str, dict[str, Measure]]:
    """Return the reference values by lesson and measurement."""
    if path is None:
        return {}
    file, _ = read_model(path, Calibration)
    return {
        name: {title: Measure(**dict(value)) for title, value in lesson.get("values", {}).items()}
        for name, lesson in file.root.items()
    }
