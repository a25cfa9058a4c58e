"""The course's run record: several launches and ranks, launchers' prefixes, and damage."""

import pytest

from autograder.codes import FindingCode
from autograder.reading.formats import record
from autograder.records import Run
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import Writer, make_record, sealed_again


def read_lines(*lines: str) -> list[Run]:
    return read_bytes({"job.out": "".join(line + "\n" for line in lines).encode()})


def read_one(lines: list[str]) -> Run:
    (run,) = read_lines(*lines)
    return run


def reasons(run: Run) -> str:
    return "; ".join(problem.title for problem in run.problems)


def test_everything_that_a_record_says_is_read():
    measure = {"name": "allreduce_s", "value": 0.25, "unit": "s", "bytes": 4096}
    run = read_one(make_record(size=2, seconds=(3.0, 1.5), measures=(measure,)))
    assert (run.format, run.outcome, run.job_id, run.workers) == ("record", "completed", "1234", 2)
    assert [epoch.seconds.value for epoch in run.epochs] == [3.0, 1.5]
    assert [epoch.unique_samples for epoch in run.epochs] == [60000, 60000]
    assert [epoch.steps for epoch in run.epochs] == [938, 938]
    assert run.epochs[1].train_accuracy.value == pytest.approx(0.94)
    slices = [(rank.rank, rank.slices) for rank in run.ranks]
    assert slices == [(0, ((0, None, 2),)), (1, ((1, None, 2),))]
    assert run.test_accuracy.value == 0.978
    assert run.total_seconds.value == 6.5
    assert run.header.dataset.name == "mnist"
    assert run.end["param_spread"] == 0.0
    assert run.measures[0]["bytes"] == 4096
    assert run.chain_intact is True
    assert run.problems == ()
    assert (run.epochs[0].seconds.where.line, run.ranks[0].where.line) == (5, 2)


def test_validation_belongs_to_its_epoch_and_the_test_to_the_run():
    writer = Writer()
    writer.add("header", {"world_size": 1})
    for number, accuracy in ((1, 0.5), (2, 0.7)):
        value = {"seconds": 1.0, "steps": 9, "unique_samples": 90, "loss": 1.0, "accuracy": 0.6}
        writer.add("epoch_stop", value, "INTERVAL_END", epoch_num=number)
        writer.add("eval_accuracy", accuracy, epoch_num=number, split="validation", loss=0.4)
    writer.add("eval_accuracy", 0.8, split="test", loss=0.3)
    run = read_one(writer.lines)
    assert [epoch.val_accuracy.value for epoch in run.epochs] == [0.5, 0.7]
    assert (run.test_accuracy.value, run.test_loss.value) == (0.8, 0.3)


PREFIXES = ("{}: ", "{:>2}: ", "[1,{}]<stdout>: ", "[{}]<stdout>:", "Epoch 1/3 \x1b[1m")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_do_no_harm(prefix):
    lines = make_record(size=4)
    assert read_one([prefix.format(3) + line for line in lines]).chain_intact is True
    plain = read_one(lines)
    assert read_one([prefix.format(3) + line for line in lines]).epochs == plain.epochs


def test_a_run_that_aborts_has_failed():
    writer = Writer()
    writer.add("header", {"world_size": 1})
    writer.add("run_stop", {"seconds": 1.0, "reason": "ValueError"}, status="aborted")
    run = read_one(writer.lines)
    assert run.outcome == "failed"
    assert "ValueError" in run.problems[0].actual


def edit(lines: list[str], old: str, new: str) -> list[str]:
    changed = [line.replace(old, new) for line in lines]
    assert changed != lines
    return changed


DAMAGE = {
    "a number changed": lambda lines: edit(lines, '"accuracy":0.94', '"accuracy":0.99'),
    "a line missing": lambda lines: [line for line in lines if '"epoch_num":2' not in line],
    "two lines swapped": lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    "a line twice": lambda lines: [*lines[:4], lines[3], *lines[4:]],
    "no hash": lambda lines: [line.replace(',"chain"', ',"chains"') for line in lines],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_breaks_the_chain_is_found_and_the_rest_is_read(damage):
    run = read_one(damage(make_record()))
    assert run.chain_intact is False
    assert "chain of rank 0 breaks here" in reasons(run)
    assert run.epochs


FIELD = {"loss": "train_loss", "accuracy": "train_accuracy", "seconds": "seconds"}
NO_NUMBERS = [
    *(("loss", diverged, "diverged") for diverged in ("nan", "inf")),
    *(("loss", other, "should be a number") for other in ("0.5", True, [1], 10**400)),
    *(("accuracy", other, "between 0 and 1") for other in (1.2, -0.1)),
    *(("seconds", other, "above 0") for other in (0, -2.5)),
]


@pytest.mark.parametrize(("key", "value", "reason"), NO_NUMBERS)
def test_numbers_fail_closed(key, value, reason):
    writer = Writer()
    writer.add("header", {"world_size": 1})
    said = {"seconds": 1.0, "steps": 9, "unique_samples": 90, "loss": 1.0, "accuracy": 0.6}
    writer.add("epoch_stop", said | {key: value}, "INTERVAL_END", epoch_num=1)
    run = read_one(writer.lines)
    assert getattr(run.epochs[0], FIELD[key]) is None
    assert reason in reasons(run)
    assert run.chain_intact is True


VALUE = ':::MLLOG {"namespace":"course","value":'
BAD_LINES = {
    ':::MLLOG {"namespace":"course","key":"hea': "not a whole JSON object",
    VALUE + "NaN}": "NaN",
    VALUE + "[" * 30000 + "]" * 30000 + "}": "nested too deeply",
    VALUE + '"' + "x" * 70000 + '"}': "longer than",
    ':::MLLOG ["course"]': "not a JSON object",
    ':::MLLOG {"namespace":"course","key":"header","metadata":7}': "no run",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=BAD_LINES.values())
def test_a_damaged_line_is_a_problem_with_its_place_and_the_rest_is_read(line):
    lines = make_record()
    runs = read_lines(*lines[:3], line, *lines[3:])
    run = max(runs, key=lambda run: len(run.epochs))
    assert len(run.epochs) == 3
    problems = [problem for one in runs for problem in one.problems if problem.where[0].line == 4]
    assert problems[0].code in (FindingCode.BAD_LINE, FindingCode.NEVER_WRITTEN)


@pytest.mark.parametrize("key", sorted({*record.ONCE} - {"machine"}))
def test_the_first_of_two_lines_counts(key):
    lines = make_record(size=1)
    at = next(at for at, line in enumerate(lines) if f'"key":"{key}"' in line)
    once, twice = read_one(lines), read_one(sealed_again([*lines[: at + 1], *lines[at:]]))
    assert [(one.actual, one.code) for one in twice.problems] == [(key, FindingCode.NEVER_WRITTEN)]
    assert (twice.chain_intact, twice.outcome, len(twice.ranks), len(twice.epochs)) == (
        True, once.outcome, len(once.ranks), len(once.epochs))  # fmt: skip


def test_one_launch_may_write_into_several_files():
    lines = make_record(size=2)
    of_rank_1 = [line for line in lines if '"rank":1,"chain"' in line]
    of_rank_0 = [line for line in lines if line not in of_rank_1]
    files = {"job_12345_0.out": of_rank_0, "job_12345_1.out": of_rank_1}
    runs = read_bytes({name: "\n".join(part).encode() for name, part in files.items()})
    (run,) = [run for run in runs if run.format == "record"]
    assert all(rank.param_hash for rank in run.ranks)
    assert run.chain_intact is True


def test_of_a_flood_a_part_is_kept_and_the_rest_is_reported(monkeypatch):
    """The ends of whatever began are still read."""
    monkeypatch.setattr(record, "MOST_BYTES", 20_000)
    epochs = read_one(make_record(seconds=(1.0,) * 200))
    assert (epochs.outcome, epochs.chain_intact) == ("completed", True)
    assert epochs.ranks[0].param_hash
    assert 20 < len(epochs.epochs) < 60
    assert "more record lines" in reasons(epochs)


@pytest.mark.parametrize(("name", "value"), [("param_spread", "none"), ("param_moved", [2])])
def test_a_fact_of_the_end_that_has_another_type_is_reported(name, value):
    writer = Writer()
    writer.add("header", {"world_size": 1})
    writer.add("run_stop", {"seconds": 1.0, name: value}, "INTERVAL_END", status="success")
    run = read_one(writer.lines)
    assert run.end[name] is None
    assert [problem.where[0].line for problem in run.problems if name in problem.title] == [2]
