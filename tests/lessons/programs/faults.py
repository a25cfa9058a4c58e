"""Every row of a lesson's "without it" and "traps" tables, and the run that shows it.

A row is found by words of it. Its proof is a run whose output is kept (planted mistakes and lazy
answers, made by `make planted`), another test that makes the run, or a reason why nobody here can.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.records import Run
from tests.lessons.planted.table import ROOT

SOLUTIONS = ROOT / "solutions"
TABLES = (
    "| you see |",
    "| what you see |",
    "| what happens without it |",
)  # in the heads of these tables


@dataclass(frozen=True)
class Kept:
    """A job with a kept output, and the traces in it: trace -> number, which is also in the row.

    also: traces that the row has in words. where: facts of the header, if the job has many runs.
    """

    job: str
    numbers: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MadeBy:
    """A test that makes the run: a function in a file of this folder."""

    file: str
    test: str


@dataclass(frozen=True)
class NotHere:
    """The reason why a row cannot be run here: it needs more than two cores, or was published."""

    said: str


Proof = Kept | MadeBy | NotHere


def rows_of(lesson: str) -> list[str]:
    """Return the rows of the lesson's tables of faults, without heads."""
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    found, inside = [], False
    lines = (folder / "lesson.py").read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if not line.startswith("# |"):
            inside = False
        elif not before.startswith("# |"):
            inside = any(words in line for words in TABLES)
        elif inside and not set(line) <= set("# |-"):
            found.append(line)
    return found


def faults_of(lesson: str) -> tuple[str, ...]:
    """Return FAULTS of the lesson's break_it.py, without loading frameworks."""
    [program] = SOLUTIONS.glob(f"{lesson}_*/break_it.py")
    for line in ast.parse(program.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "FAULTS":
            return tuple(ast.literal_eval(line.value))
    raise AssertionError(f"{program} names no FAULTS")


def measured(run: Run, name: str) -> Any:
    return next(m["value"] for m in run.measures if m["name"] == name)


TRACES: dict[str, Callable[[Run], Any]] = {
    "accuracy": lambda run: run.test_accuracy.value,
    "loss": lambda run: run.epochs[-1].train_loss.value,
    "first loss": lambda run: run.epochs[0].train_loss.value,
    "spread": lambda run: run.end["param_spread"],
    "steps": lambda run: run.epochs[-1].steps,
    "epochs": lambda run: len(run.epochs),
    "replicas": lambda run: run.header["replicas"],
    "rate": lambda run: run.header["lr"],
    "ranks": lambda run: run.workers,
    "ranks heard": lambda run: measured(run, "ranks_heard"),
    "files": lambda run: run.end["files_found"],
    "read twice": lambda run: measured(run, "images_twice"),
    "never read": lambda run: measured(run, "images_missing"),
    "as one rank": lambda run: measured(run, "difference_to_serial") < 1e-9,
    "starts": lambda run: len({rank.start_hash for rank in run.ranks}),
    "losses": lambda run: len({rank.loss for rank in run.ranks}),
    "last rate": lambda run: run.epochs[-1].lr,
    "loss rises": lambda run: run.epochs[-1].train_loss.value > run.epochs[-2].train_loss.value,
    "processed": lambda run: run.epochs[-1].steps * run.header["global_batch"],
    "batch": lambda run: run.header["global_batch"],
    "new order each epoch": lambda run: measured(run, "orders_as_drawn") == 1,
    "exchanges": lambda run: measured(run, "exchanges"),
    "mean of all ranks": lambda run: measured(run, "drawn_error") < 1e-4,
    "gradients of the whole batch": lambda run: measured(run, "accumulation_error") < 1e-4,
    "gradients of one process": lambda run: measured(run, "serial_error") < 1e-9,
    "own reads": lambda run: max(m["value"] for m in run.measured("own_reads", way="after")),
    "update operations": lambda run: run.measured("update_ops", way="after")[0]["value"],
    "compilations": lambda run: measured(run, "compilations"),
    "longest stage too long by": lambda run: measured(run, "split_excess"),
}


def close(found: float, told: str) -> bool:
    """Compare to a hundredth, above 1 to a twentieth: processors add in different orders."""
    return abs(found - float(told.replace(",", ""))) <= (
        0.011 if abs(found) < 1 else 0.05 * abs(found)
    )
