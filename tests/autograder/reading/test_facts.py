"""Facts about a run and its epochs: its job, its workers, its times, and when none is read."""

from pathlib import Path

import pytest

from autograder.measuring.interval import NotMeasured
from autograder.measuring.measure import epochs
from autograder.reading.files import cut_off
from autograder.reading.formats.template import load_reader
from autograder.reading.lines import LONGEST
from autograder.reading.plain_summary import summary
from autograder.records import Run
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.reading.test_read import KERAS, LIMIT, read_one

LINE = "pass {epoch} of {of} loss {train_loss} time {seconds}"
OURS = load_reader("ours", [LINE, "pass {epoch} acc {val_accuracy}", "right {test_accuracy}"])


def read(text: str) -> Run:
    (run,) = read_bytes({"job.out": text.encode()}, [OURS])
    return run


JOBS = {
    "%x_%j": (["a_4711.out", "a_4711.err"], "4711"),
    "slurm-%j": (["slurm-12.out"], "12"),
    "an array": (["slurm-4711_3.out"], "4711_3"),
    "PBS": (["train.o4711", "train.e4711"], "4711"),
    "no id": (["job.out", "job.err"], None),
    "a date and a time": (["run_20260302_101500.out"], None),
    "a folder": (["1234/job.out"], None),
}


@pytest.mark.parametrize(("names", "job"), JOBS.values(), ids=JOBS)
def test_job_from_the_name(names, job):
    run = read_one(dict(zip(names, (KERAS, "warning\n"), strict=False)))
    assert run.job_id == job
    assert len(run.files) == len(names)


@pytest.mark.parametrize("line", ["SLURM_JOB_ID=4711", "Job ID: 4711", LIMIT])
def test_job_from_the_output_before_the_name(line):
    assert read_one({"a_9999.out": f"{line}\n{KERAS}"}).job_id == "4711"


def test_jobs_that_contradict_each_other_are_none():
    assert read_one({"a.out": "SLURM_JOB_ID=1\nSLURM_JOB_ID=2\n" + KERAS}).job_id is None


WORKERS = {
    "INFO Initialized rank 0 out of 4": 4,
    "world size: 4": 4,
    "WORLD_SIZE=4": 4,
    "LOCAL_WORLD_SIZE=4": None,
    "local world size: 4": None,
    "Number of available GPUs: 4": None,
    "This DataLoader will create 4 worker processes in total": None,
    "world_size=0": None,
    "world size: 4\nworld size: 8": None,
}


@pytest.mark.parametrize("line", WORKERS)
def test_workers_are_what_the_output_says(line):
    assert read_one({"job.out": f"{line}\n{KERAS}"}).workers == WORKERS[line]


RESULTS = {
    "Test accuracy: 0.9731": 0.9731,
    "Test accuracy: 97.31": 0.9731,
    "Test accuracy: 97.31 %": 0.9731,
    "Test accuracy: 0.5%": 0.005,
    "Test accuracy: 0,9731": 0.9731,  # a decimal comma
    "Test accuracy: 97,31%": 0.9731,
    "Test accuracy: 1,234": None,  # of thousands, or a decimal comma?
    "Test accuracy: 0.9.7": None,
    "Best test accuracy: 0.99": None,
    "Test accuracy so far: 0.99": None,
    "right 97": 0.97,
    "right 97,3 %": 0.973,  # the template has no sign
    "right 0.97 %": None,  # 0.97 or 0.0097?
}


@pytest.mark.parametrize("line", RESULTS)
def test_a_test_accuracy_is_read_as_it_is_meant_or_not_at_all(line):
    number = read(f"{KERAS}{line}\n").test_accuracy
    assert number is None if RESULTS[line] is None else number.value == pytest.approx(RESULTS[line])
    assert number is None or number.where.line == 7


# The lines of three epochs, and what is read of them.
EPOCHS = {
    "decimal commas": (
        ["pass {n} of 3 loss 0,9{n} time 12,{n} s"],
        {"epoch_seconds": [12.1, 12.2, 12.3], "final_train_loss": 0.93, "outcome": "completed"},
    ),
    "commas that may separate thousands": (
        ["pass {n} of 3 loss 1,25{n} time 12,5 s"],
        {"format": "unknown", "final_train_loss": None},
    ),
    "every tenth epoch": (
        ["pass {n}0 of 30 loss 1 time 9 s"],
        {"epoch_seconds": [], "epochs": None, "outcome": "completed"},
    ),
    "percentages": (
        ["pass {n} acc {n}.5", "pass {n} of 3 loss 1 time 9"],
        {"final_val_accuracy": 0.035, "best_val_accuracy": 0.035},
    ),
    "an accuracy that cannot be": (
        ["pass {n} acc {n}99.5", "pass {n} of 3 loss 1 time 9"],
        {"final_val_accuracy": None, "epochs": 3},
    ),
    "a total that the epochs contradict": (
        ["pass {n} of 3 loss 1 time 20.{n} s", "Training time: 20"],
        {"epoch_seconds": [], "outcome": "completed"},
    ),
}


@pytest.mark.parametrize("name", EPOCHS)
def test_epochs_are_read_as_they_are_meant_or_not_at_all(name):
    lines, facts = EPOCHS[name]
    *each, last = lines if len(lines) > 1 and "{n}" not in lines[-1] else [*lines, ""]
    text = "".join(line.format(n=n) + "\n" for n in (1, 2, 3) for line in each) + last + "\n"
    found = summary(read(text))
    for fact, value in facts.items():
        assert found[fact] == (value if value is None else pytest.approx(value)), fact


def test_epochs_of_which_only_some_are_printed_are_neither_counted_nor_missing():
    run = read("".join(f"pass {n}0 of 30 loss 1 time 9\n" for n in (1, 2, 3)))
    with pytest.raises(NotMeasured, match="how many"):
        epochs(run)


SINCE_START = {(10, 20, 30, 40): True, (30, 40, 51): True, (0, 9, 19): True}
PER_EPOCH = {(10, 11, 12, 13): False, (30, 10, 11): False, (10, 20): False, (9, 9, 19): False}


@pytest.mark.parametrize(("seconds", "dropped"), [*SINCE_START.items(), *PER_EPOCH.items()])
def test_seconds_since_the_start_are_no_seconds_of_an_epoch(seconds, dropped):
    lines = [f"pass {n} of 4 loss 1 time {s} s\n" for n, s in enumerate(seconds, 1)]
    run = read("".join(lines))
    assert summary(run)["epoch_seconds"] == ([] if dropped else list(seconds))
    assert any("since the start" in p.title for p in run.problems) == dropped
    assert len(run.epochs) == len(seconds)


def test_a_record_that_was_cut_off_takes_no_whole_run_for_its_last_words():
    cut = "\n".join(make_record(finished=False)[:8]) + "\n"
    runs = read_bytes({"job.out": (cut + KERAS).encode()})
    assert [run.format for run in runs] == ["record", "keras"]


def test_a_torn_line_counts_whatever_the_error_output_says():
    record = "\n".join(make_record())
    errors = b"\n" * 200 + b"x" * 3 * LONGEST
    for cut in (record[:-30], record[: record.rindex(":::")]):
        runs = read_bytes({"job_7.out": cut.encode(), "job_7.err": errors})
        assert [note.where[0].file for note in cut_off(runs)] == ["job_7.out"]
        again = read_bytes({"job_6.out": cut.encode(), "job_7.out": record.encode()})
        assert len(cut_off(again)) == (cut == record[:-30])


def test_a_record_that_the_same_job_went_on_with_is_not_cut_off():
    elastic = Path(__file__).parents[2] / "lessons/planted/outputs/15/elastic.out.txt"
    runs = read_bytes({"job_7.out": elastic.read_bytes()})
    assert [run.outcome for run in runs][:2] == ["incomplete", "completed"]  # and the probe
    assert cut_off(runs) == []


def test_a_job_ends_where_its_other_file_says():
    run = read_one({"a_1.out": KERAS, "a_1.err": "Test accuracy: 0.9\n" + LIMIT})
    assert (run.outcome, run.test_accuracy.value) == ("timeout", 0.9)
