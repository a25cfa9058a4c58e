"""`autograder read`, for people and for scripts."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import make_record
from tests.autograder.reading.test_read import KERAS, TRACEBACK, UNFINISHED


def command(*arguments: object):
    return CliRunner().invoke(main, ["read", *map(str, arguments)])


FIELDS = [
    "files",
    "format",
    "outcome",
    "workers",
    "job_id",
    "epochs",
    "epoch_seconds",
    "epoch_seconds_median_after_first",
    "final_train_accuracy",
    "final_val_accuracy",
    "best_val_accuracy",
    "test_accuracy",
    "final_train_loss",
    "throughput",
    "problems",
]


def test_command_prints_json(tmp_path):
    (tmp_path / "a_4711.out").write_text("\n".join(make_record(size=2, seconds=(3, 2, 1.5))))
    (tmp_path / "b.out").write_text(UNFINISHED + TRACEBACK)
    result = command(tmp_path / "a_4711.out", tmp_path / "b.out", "--json")
    assert result.exit_code == 0
    record, keras = json.loads(result.output)
    assert list(record) == list(keras) == FIELDS
    assert record["workers"] == 2
    assert record["epoch_seconds"] == [3, 2, 1.5]
    assert record["epoch_seconds_median_after_first"] == 1.75
    assert record["throughput"] == pytest.approx((60000 / 2 + 60000 / 1.5) / 2)
    assert record["final_val_accuracy"] is None
    (problem,) = keras["problems"]
    assert list(problem) == ["file", "line", "text", "reason"]


def test_command_prints_for_people(tmp_path):
    (tmp_path / "a.out").write_text(KERAS + "\x1b[31mTest accuracy: 0.95\n" + TRACEBACK)
    result = command(tmp_path / "a.out")
    assert result.exit_code == 0
    assert "final train accuracy" in result.output
    assert "ValueError: the shapes do not match" in result.output
    assert "final val accuracy" not in result.output


@pytest.mark.parametrize(
    ("output", "error"),
    [("a_4711.out", "a_4711.err"), ("job.o17", "job.e17"), ("slurm-9.out", "slurm-9.err")],
)
def test_error_output_that_was_not_read_is_named_after_a_failure(tmp_path, output, error):
    out, err = tmp_path / output, tmp_path / error
    (tmp_path / "b_4712.err").write_text(TRACEBACK)  # of another job
    (tmp_path / "folder_4711.err").mkdir()
    out.write_text(UNFINISHED)
    assert "was not read" not in command(out).output  # there is none
    err.touch()
    assert "was not read" not in command(out).output  # it is empty
    err.write_text(TRACEBACK)
    said = command(out).output.splitlines()[-1]
    assert said == f"  {err} was not read and may say why: autograder read {out} {err}"
    both = command(out, err).output
    assert "ValueError: the shapes do not match" in both
    assert "was not read" not in both
    out.write_text("\n".join(make_record()))
    assert "was not read" not in command(out).output  # it ended well


def test_command_says_what_is_wrong_with_its_files(tmp_path):
    missing = command(tmp_path / "none.out")
    assert missing.exit_code == 2
    assert "there is no such file" in missing.output
    folder = command(tmp_path)
    assert folder.exit_code == 2
    assert "is a folder" in folder.output
    assert command().exit_code == 2
