"""Outputs in all formats, and the invariants of everything that is read of any output."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from autograder.codes import Outcome
from autograder.notes import Note
from autograder.reading import ends
from autograder.reading.formats import presets
from autograder.reading.line_facts import EPOCH_NUMBERS, RUN_NUMBERS, LineFacts
from autograder.reading.plain_summary import summary
from autograder.records import Number, Run
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record

HERE = Path(__file__).parents[1]
# Outputs in all formats.
SAMPLES = {path.stem: path.read_bytes() for path in (HERE / "reading/formats/samples").iterdir()}
SAMPLES |= {preset["name"]: preset["example"].encode() for preset in presets.data()}
SAMPLES["record"] = "\n".join(make_record(size=2)).encode()
SAMPLES["signs"] = "\n".join(
    line for group in ends.data()["signs"] for _, line in group["lines"]
).encode()
SAMPLES["others"] = b"""\
slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***
Traceback (most recent call last):
  File "train.py", line 1, in <module>
ValueError: shapes do not match
srun: error: n1: task 3: Exited with exit code 1
 Model ResNet50 4 GPUs
Num_replicas: 4
Step 10: Minibatch Loss= 0.31, Training Accuracy= 0.96, 959 Examples/sec
Loss: 1.25 | Acc: 55.3% (553/1000)
epoch=3 loss=0.25 acc=0.91 time=12.5s
{"epoch": 3, "train_loss": 0.25, "seconds": 12.5}
2026-03-02 10:00:00,123 INFO epoch 3 begins
epoch  train_loss  val_acc  seconds
    3        0.25     0.91     12.5
it 100: 231.5 ms
Training time with 4 GPUs 12.5
World size: 4
rank 0 out of 4
Test accuracy: 97.5 %
"""


def read_and_check(files: dict[str, bytes]) -> list[Run]:
    """Read files, check that measuring and reporting can rely on every run, and return the runs."""
    runs = read_bytes(files)
    for run in runs:
        check(run, files)
    json.dumps([summary(run) for run in runs], allow_nan=False).encode()
    return runs


def check(run: Run, files: dict[str, bytes]) -> None:
    assert run.outcome in Outcome
    assert set(run.files) <= set(files)
    assert run.workers is None or 0 < run.workers <= 10**15
    numbers = [epoch.number for epoch in run.epochs]
    assert numbers == sorted(set(numbers))
    for epoch in run.epochs:
        for accuracy in (epoch.train_accuracy, epoch.val_accuracy):
            assert accuracy is None or 0 <= accuracy.value <= 1
        assert epoch.seconds is None or epoch.seconds.value >= 0
    check_numbers(run)
    for problem in run.problems:
        assert isinstance(problem, Note)
        for place in problem.where:
            assert 0 <= place.line <= files[place.file].count(b"\n") + 1
        assert len(problem.actual) <= 400
        assert problem.title


def check_numbers(value: Any) -> None:
    """Check that every Number is finite; a record's header may hold anything that JSON can hold."""
    if isinstance(value, Number):
        assert math.isfinite(value.value)
        assert math.isfinite(value.half_width)
        assert value.half_width >= 0
    elif isinstance(value, tuple):
        for item in value:
            check_numbers(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            check_numbers(getattr(value, field.name))


def check_facts(facts: LineFacts | None) -> None:
    """Check that lanes and runs can be built from what a reader understood."""
    if facts is None:
        return
    assert facts != LineFacts(), "a line that says nothing is None"
    run = facts.run
    assert set(facts.numbers) <= set(EPOCH_NUMBERS)
    assert set(run.numbers) <= set(RUN_NUMBERS)
    for number in (*facts.numbers.values(), *run.numbers.values()):
        assert number is None or number.where is None
        check_numbers(number)
    assert not (facts.opens and (facts.closes or facts.numbers or facts.step is not None))
    assert not (facts.closes and facts.step is not None)
    for count in (facts.number, facts.of, facts.steps, facts.step, run.workers):
        assert count is None or (math.isfinite(count) and count >= 0)
