"""`autograder read --why`: each fact with its line and rule, or what the reader looked for."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.reading.files import read_bytes
from autograder.reading.formats.mllog import FORMAT as MLPERF
from autograder.reading.formats.record import FORMAT as RECORD
from autograder.reading.printed_lines import READERS
from autograder.reading.why import FORMATS, LOOKED_FOR, reasons

TEXT = """SLURM_JOB_ID=4711
Training the model with 4 GPU
Epoch 1/2 loss: 0.9, val_acc: 0.5, time: 12.4s
Epoch 2/2 loss: 0.25, val_acc: 0.75, time: 11.9s
Test accuracy: 0.7
Training finished
"""
# Fact, value, line, and a word of its rule.
SAID = [
    ("outcome", "completed", 6, "after the last epoch"),
    ("job_id", "4711", 1, "scheduler"),
    ("workers", 4, 2, "number of workers"),
    ("epochs", 2, 4, "on a line that names an epoch"),
    ("epoch_seconds", [12.4, 11.9], 4, "on a line that names an epoch"),
    ("final_train_loss", 0.25, 4, "on a line that names an epoch"),
    ("final_train_accuracy", None, None, "looked for `accuracy: 0.9`"),
    ("final_val_accuracy", 0.75, 4, "on a line that names an epoch"),
    ("test_accuracy", 0.7, 5, "the test"),
    ("throughput", None, None, "looked for `814 examples/sec`"),
    ("total_seconds", None, None, "looked for `Training time"),
]


@pytest.mark.parametrize("said", SAID, ids=lambda said: said[0])
def test_each_fact_has_its_line_and_its_rule(said):
    (run,) = read_bytes({"job.out": TEXT.encode()})
    fact, value, line, rule = said
    (reason,) = [reason for reason in reasons(run) if reason.fact == fact]
    assert reason.value == value
    assert (reason.where and reason.where.line) == line
    assert rule in reason.rule


def test_every_fact_is_explained():
    (run,) = read_bytes({"job.out": TEXT.encode()})
    assert [said[0] for said in SAID] == ["outcome", *LOOKED_FOR]
    assert [reason.fact for reason in reasons(run)] == ["outcome", *LOOKED_FOR]


ENDS = {
    "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***\n": (
        "timeout",
        7,
        "time limit",
    ),
    "Traceback (most recent call last):\n  File\nValueError: no\n": ("failed", 9, "exception"),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_end_has_the_line_that_tells_of_it(end):
    (run,) = read_bytes({"job.out": (TEXT + end).encode()})
    outcome, line, rule = ENDS[end]
    first = reasons(run)[0]
    assert first.where is not None
    assert (first.value, first.where.line) == (outcome, line)
    assert rule in first.rule


def test_every_format_has_its_rule():
    known = {reader.format for reader in READERS} | {RECORD, MLPERF, "bars", "unknown"}
    assert known == FORMATS.keys()


def test_the_command_shows_the_lines(tmp_path):
    (tmp_path / "job.out").write_text(TEXT)
    result = CliRunner().invoke(main, ["read", "--why", str(tmp_path / "job.out")])
    assert result.exit_code == 0
    assert "workers: 4\n" in result.stdout
    assert "job.out:2: Training the model with 4 GPU\n" in result.stdout
    assert "throughput: not read\n      looked for" in result.stdout
