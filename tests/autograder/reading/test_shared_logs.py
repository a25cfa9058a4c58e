"""Ten outputs of other people's jobs, kept outside the repository, compared with expected.json.

They are looked for in COURSE_LOGS, in `logs` beside COURSE_DATA's folder, or in `../shared/logs`.
If COURSE_LOGS is set, they must be there.
"""

import json
from statistics import median

import pytest

from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.records import Run
from tests.autograder.reading.known_outputs import LOGS

pytestmark = pytest.mark.logs


@pytest.fixture(scope="module")
def expected() -> dict[str, dict]:
    assert LOGS is not None
    entries = json.loads((LOGS / "expected.json").read_text())
    return {entry["id"]: entry for entry in entries}


def runs_of(expected: dict[str, dict], id_: str) -> list[Run]:
    assert LOGS is not None
    return read_files([LOGS / expected[id_]["file"]])


# The name of a fact in expected.json, and where `autograder read` reports it.
FIELDS = {
    "final_train_accuracy": "final_train_accuracy",
    "final_val_accuracy": "final_val_accuracy",
    "best_val_accuracy": "best_val_accuracy",
    "final_train_loss": "final_train_loss",
    "epoch_seconds": "epoch_seconds",
    "epoch_seconds_median_excl_first": "epoch_seconds_median_after_first",
    "epochs": "epochs",
    "job_id": "job_id",
    "outcome": "outcome",
}
SINGLE = ("009", "011", "021", "037", "047", "057", "064", "076")


@pytest.mark.parametrize("id_", SINGLE)
def test_one_run_reads_as_expected(expected, id_):
    (run,) = runs_of(expected, id_)
    says, read = expected[id_]["expected"], summary(run)
    for name, field in FIELDS.items():
        if name in says:
            assert read[field] == pytest.approx(says[name]), name


# Nothing in 009 and 032 shows how many processes ran. expected.json has it from elsewhere, and what
# an output does not show stays unknown.
@pytest.mark.parametrize("id_", ["021", "037", "064", "076"])
def test_workers_are_those_that_the_output_names(expected, id_):
    (run,) = runs_of(expected, id_)
    assert run.workers == expected[id_]["expected"]["workers"]


@pytest.mark.parametrize("id_", ["009", "032"])
def test_workers_that_the_output_does_not_name_stay_unknown(expected, id_):
    assert {run.workers for run in runs_of(expected, id_)} == {None}


def test_times_of_single_epochs_and_of_the_whole_run(expected):
    (keras,) = runs_of(expected, "009")
    assert keras.epochs[0].seconds.value == expected["009"]["expected"]["epoch_seconds_first"]
    assert keras.epochs[-1].seconds.value == expected["009"]["expected"]["epoch_seconds_last"]
    assert keras.epochs[-1].val_loss.value == expected["009"]["expected"]["final_val_loss"]
    total = expected["009"]["expected"]["train_total_seconds"]
    assert keras.total_seconds.value == pytest.approx(total)
    (mlperf,) = runs_of(expected, "076")
    first = expected["076"]["expected"]["epoch_seconds_first"]
    assert mlperf.epochs[0].seconds.value == pytest.approx(first, abs=0.005)
    assert mlperf.total_seconds.value == pytest.approx(expected["076"]["expected"]["run_seconds"])


def test_sixteen_runs_in_one_file(expected):
    runs = runs_of(expected, "032")
    says = expected["032"]["expected"]
    assert len(runs) == says["runs"]
    assert sum(run.outcome == "completed" for run in runs) == says["runs_completed"]
    assert {len(run.epochs) for run in runs} == {5}
    first = says["first_run"]
    seconds = [epoch.seconds.value for epoch in runs[0].epochs]
    assert seconds == first["epoch_seconds"]
    assert median(seconds[1:]) == pytest.approx(first["epoch_seconds_median_excl_first"])
    accuracy = runs[0].epochs[-1].train_accuracy.value
    assert 100 * accuracy == pytest.approx(first["final_train_accuracy_percent"])
    assert runs[0].epochs[-1].train_loss.value == first["final_train_loss"]


def test_one_two_and_four_gpus_in_one_file(expected):
    runs = runs_of(expected, "036")
    says = expected["036"]["expected"]["runs"]
    assert [run.workers for run in runs] == [run["gpus"] for run in says]
    assert [run.outcome for run in runs] == ["completed"] * 3
    assert [len(run.epochs) for run in runs] == [3, 3, 3]
    for run, said in zip(runs, says, strict=True):
        assert run.total_seconds.value == pytest.approx(said["total_seconds"])
        assert run.test_accuracy.value == said["test_accuracy"]
        assert run.epochs[-1].train_loss.value == said["final_train_loss"]


def test_what_went_wrong_is_named_with_its_line(expected):
    (failed,) = runs_of(expected, "011")
    assert "FileNotFoundError" in failed.problems[-1].text
    assert failed.problems[-1].where.line == 61
    (late,) = runs_of(expected, "057")
    assert any("time limit" in problem.reason for problem in late.problems)
    # 037 first stalled in NCCL. It ended with another rank's RendezvousConnectionError.
    (stalled,) = runs_of(expected, "037")
    reasons = " ".join(problem.reason + problem.text for problem in stalled.problems)
    assert "RendezvousConnectionError" in reasons
    assert "Watchdog caught collective operation timeout" in reasons
