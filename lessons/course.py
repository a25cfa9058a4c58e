"""Give notebooks their jobs, runs and measures, checks, pictures, predictions and answers.

from lessons import course

[run] = course.submit("job.sbatch", "--epochs", 3)
course.check("2.1", train.build_model)
course.plots.epoch_bars({"Keras": run})
course.answers.note(epoch_s=3.2)
"""

import importlib
import inspect
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.measuring import (
    interval as interval,
    measure as measure,
    rounds as rounds,
    study_table as study_table,
)
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.wording import counted as counted
from cluster.jobs import notebook
from cluster.jobs.horovod import provide_horovod as provide_horovod
from cluster.jobs.notebook import (
    JobError as JobError,
    cores_per_gpu as cores_per_gpu,
    on_nodes as on_nodes,
    two_nodes as two_nodes,
    typed as typed,
)
from lessons.toolkit import (
    answers as answers,
    expectations as expectations,
    incidents as incidents,
    plots as plots,
    predictions as predictions,
)
from lessons.toolkit.checks.shared.check import CheckFailed, checks_of, named, not_loaded, task_of
from lessons.toolkit.colour_diff import show_diff as show_diff


def submit(
    job: str, *arguments: object, options: dict[str, str] | None = None, again: bool = False
) -> list[Run]:
    """Submit a job once, wait for it, and return its runs.

    If the same job has succeeded before, its runs are returned at once; `again=True` submits it
    anyway. `options` replace those of the job file; `on_nodes` returns them for a number of ranks.
    """
    return read_files(notebook.submit_once(job, *arguments, options=options, again=again))


def submit_sizes(job: str, *arguments: object, ranks: int, gpus: str = "") -> list[Run]:
    """Submit a job once for each of 1, 2, 4 … `ranks` ranks, and return all runs."""
    return read_files(notebook.submit_sizes(job, *arguments, ranks=ranks, gpus=gpus))


def runs(pattern: str = "*.out") -> list[Run]:
    """Return the runs in all outputs of this folder that match the pattern."""
    return read_files(sorted(Path().glob(pattern)))


def check(number: str, *students: Any, **options: Any) -> None:
    """Run the public check of an exercise, on programs as they are saved now.

    students: modules of this folder, functions of them, or functions of the notebook.
    """
    lesson = int(number.partition(".")[0])
    public = importlib.import_module(f"lessons.toolkit.checks.lesson_{lesson:02d}")
    try:
        checks_of(public)[number](*as_saved(students), **options)
    except CheckFailed as failed:
        failed.saved = ages_of(students)
        raise named(failed, number) from None


def show_code(*functions: Any) -> Any:
    """Show the code of functions of this folder's programs, as it is saved now."""
    from IPython.display import Code

    texts = [inspect.getsource(function).rstrip() for function in as_saved(functions)]
    return Code("\n\n".join(texts), language="python")


def show_output(shown: Iterable[Run]) -> None:
    """Print the outputs of these runs, without the lines of the run record."""
    notebook.show_output(dict.fromkeys(file for run in shown for file in run.files))


def as_saved(students: Iterable[Any]) -> list[Any]:
    """Load this folder's programs again, and return the same modules and functions of them."""
    pairs = [(student, program_of(student)) for student in students]
    for module in dict.fromkeys(module for _, module in pairs if module):
        try:
            importlib.reload(module)
        except Exception as error:
            if task_of(error):
                raise
            raise not_loaded(error, Path(str(module.__file__))) from None
    return [
        student if module in (None, student) else getattr(module, student.__name__)
        for student, module in pairs
    ]


def ages_of(students: Iterable[Any]) -> str:
    """Return how long ago this folder's programs were saved, or "" if none is among them."""
    programs = dict.fromkeys(Path(str(m.__file__)) for m in map(program_of, students) if m)
    ages = []
    for file in programs:
        minutes = max(0, int(time.time() - file.stat().st_mtime) // 60)
        age = counted(minutes, "minute") if minutes < 120 else counted(minutes // 60, "hour")
        ages.append(f"{file.name} as saved {age} ago")
    return f"({', '.join(ages)})" if ages else ""


def program_of(student: Any) -> ModuleType | None:
    """Return the module if it, or the module of this function, is a program of this folder."""
    module = student
    if not isinstance(student, ModuleType):
        module = sys.modules.get(getattr(student, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    return module if file and Path(file).resolve().parent == Path.cwd().resolve() else None
