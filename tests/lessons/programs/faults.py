"""The numbers in the tables of faults of the lessons, and the kept runs that show them.

A row is found by words of it. Its run is a planted mistake or a lazy answer (`make planted`).
"""

import ast
from collections.abc import Callable
from typing import Any

from autograder.measuring import course_metrics
from autograder.records import Run
from tests.lessons.planted.plants import ROOT

SOLUTIONS = ROOT / "solutions"
# Lesson and words of the row -> the job, and its traces, whose numbers are in the row. Where a job
# has many runs, the last part has facts of the header.
Shown = tuple[str, dict[str, str], dict[str, Any]]
NUMBERS: dict[tuple[str, str], list[Shown]] = {
    ("05", "rate 0.02 instead of 0.04"): [
        ("rate not scaled", {"loss": "2.302", "rate": "0.02"}, {}),
        ("built and compiled outside", {"loss": "2.300", "rate": "0.04"}, {}),
    ],
    ("06", "summed and not divided"): [
        ("summed and not divided", {"accuracy": "0.920", "loss": "0.224"}, {}),
        ("a rate scaled although the batch is not", {"accuracy": "0.920", "loss": "0.224"}, {}),
    ],
    ("06", "no broadcast and unlike seeds"): [
        ("lazy 6.4 no broadcast", {"accuracy": "0.910", "spread": "0.89"}, {}),
    ],
    ("06", "`mc.gradients` returns was not assigned"): [
        ("lazy 6.4 own gradients", {"accuracy": "0.924", "loss": "0.299", "spread": "0.24"}, {}),
    ],
    ("06", "all ranks read the same half"): [
        ("all ranks read the same half", {"accuracy": "0.924"}, {}),
    ],
    ("06", "divided once more"): [
        ("own mean, divided once more", {"accuracy": "0.908", "loss": "0.330"}, {}),
    ],
    ("07", "rank 0 of 1"): [("lazy 7.1 each rank alone", {"accuracy": "0.90"}, {})],
    ("07", "no wrapped optimizer; Keras 3"): [
        ("not wrapped", {"accuracy": "0.863", "spread": "0.18"}, {}),
        ("keras 3", {"accuracy": "0.874", "spread": "0.19"}, {}),
    ],
    ("07", "one order of the images"): [
        ("lazy 7.1 one order of the images for all", {"accuracy": "0.866"}, {}),
    ],
    ("07", "four epochs"): [("epochs not divided", {"accuracy": "0.913"}, {})],
    ("08", "each rank listed the folder"): [
        (
            "each rank lists the folder",
            {"accuracy": "0.857", "read twice": "800", "never read": "800"},
            {},
        ),
    ],
    ("08", "each rank drew its own order of the files"): [
        (
            "an order each before slicing",
            {"accuracy": "0.858", "read twice": "600", "never read": "600"},
            {},
        ),
    ],
    ("08", "the last items cut off"): [
        ("the last file cut off", {"accuracy": "0.835", "steps": "19", "never read": "400"}, {}),
    ],
    ("08", "sorted by class"): [("lazy 8.1 sorted by class", {"accuracy": "0.837"}, {})],
    ("08", "every rank read every file"): [
        ("every rank takes all", {"accuracy": "0.889", "steps": "50"}, {}),
    ],
    ("09", "rate scaled *and* gradients summed"): [
        (
            "rate scaled and gradients summed: N²",
            {"accuracy": "0.10", "loss": "2.31", "first loss": "9"},
            {"rule": "linear"},
        ),
    ],
    ("09", "divided by N"): [("rate divided by N", {"accuracy": "0.803"}, {"rule": "linear"})],
    ("09", "momentum 0.9 left on"): [
        ("momentum left on", {"accuracy": "0.912"}, {"rule": "linear"}),
        ("momentum left on", {"accuracy": "0.941"}, {"rule": "same"}),
    ],
    ("09", "the decay was forgotten"): [("decay forgotten", {"accuracy": "0.34"}, {})],
    ("10", "no `set_epoch`"): [("no set_epoch", {"accuracy": "0.923"}, {})],
}


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
    "replicas": lambda run: run.header["replicas"],
    "rate": lambda run: run.header["lr"],
    "read twice": lambda run: course_metrics.shard_overlap(run).value,
    "never read": lambda run: course_metrics.shard_uncovered(run).value,
}
