"""Tests of the facts that two honest students may share, and of those that they may not."""

import json
import re

import pytest

from autograder.classroom.whole_class import Print, find_copies
from autograder.codes import FindingCode
from autograder.evidence.examine import (
    hash_of_losses,
    hash_of_parameters,
    hash_of_seconds,
    traits_of,
)
from autograder.verdict import RunTraits
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import put
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import write_lines


def numpy_job(job=1234, **changes):
    lines = forge.as_job(forge.kept("01", "right"), job, "01_numpy")
    put(lines, "machine", **changes)
    return lines


def honest(lines, seconds=1.07, later=4000):
    """Turn the output into another student's honest run with the same seed.

    It gets another id, job, time and seconds.
    """
    forge.new_id(lines, "ab12cd34")
    put(lines, "epoch_stop", "run_stop", seconds=lambda s: round(s * seconds + 0.000123, 6))
    return forge.later(lines, later)


def changed(lines, *keys, **members):
    put(lines, *keys, **members)
    return lines


def copied(lines):
    forge.new_id(lines)
    return lines


def edited(text):
    """Change the test accuracy wherever the output states it."""
    assert text.count("0.9306") > 1
    return text.replace("0.9306", "0.9906")


# The second student's output, and the reason to look (None: there is none).
PAIRS = {
    "the same output": (lambda: numpy_job(), FindingCode.SHARED_RUN),
    "a new run id": (lambda: copied(numpy_job(77)), FindingCode.SHARED_RUN),
    "honest work with the same seed": (lambda: honest(numpy_job(77)), None),
    "the same job": (lambda: honest(numpy_job()), FindingCode.SHARED_JOB),
    "job 1234 of another site": (lambda: honest(numpy_job(site="juwels")), None),
    "job 1234 of a laptop": (
        lambda: honest(numpy_job(scheduler="laptop", site="laptop")), None),
    "the same losses with another seed": (
        lambda: changed(honest(numpy_job(77)), "header", seed=5), FindingCode.SHARED_RESULT),
    "the same parameters and another accuracy": (
        lambda: forge.parsed(edited(forge.written(honest(numpy_job(77))))),
        FindingCode.SHARED_RESULT),
}  # fmt: skip


SHARED = {code for _, code in PAIRS.values()}


@pytest.mark.parametrize(("second", "code"), PAIRS.values(), ids=PAIRS)
def test_two_students(tmp_path, grade, second, code):
    for student, lines in (("ada", numpy_job()), ("ben", second())):
        home = tmp_path / "class" / student / "01"
        write_lines(home / "01_numpy_1.out", [forge.written(lines)])
    whole = grade(tmp_path / "class").folder
    table = json.loads((whole / "grades.json").read_text())["grades"]
    for row, other in zip(table, ("ben", "ada"), strict=True):
        shared = [reason for reason in row["look"] if reason["code"] in SHARED]
        assert [reason["code"] for reason in shared] == ([code] if code else [])
        assert all(other in reason["text"] for reason in shared)
        page = (whole / f"students/{row['student']}.html").read_text()
        assert not re.search(rf"\b{other}\b", page)


def test_laptops_queues_all_count_from_1_unless_the_accounting_knows_the_job():
    traits = [RunTraits((name,), job="laptop 1") for name in ("ada", "ben")]
    prints = [Print((t.marks[0], "01"), "a.out:1", t, t.marks) for t in traits]
    assert find_copies(prints) == {}
    assert find_copies(prints, {"1"}).keys() == {("ada", "01"), ("ben", "01")}


def handed_in(student, parameters="same", settings="one", result=0.97, losses="") -> Print:
    traits = RunTraits(losses=losses, settings=settings, parameters=parameters, result=result)
    return Print((student, "02"), "a.out:1", traits, [student])


HONEST = [handed_in(name) for name in ("ada", "ben", "eve")]
# Submissions in addition to three honest runs, what all of them have in common, and the students
# who are flagged.
UNLIKE = {
    "one edited accuracy": ([handed_in("abe", result=0.99)], {}, ["abe"]),
    "two kinds of edits": (
        [handed_in("abe", result=0.99), handed_in("zoe", result=0.5)], {}, ["abe", "zoe"]),
    "as many edited alike": (
        [handed_in(f"z{n}", result=0.99) for n in range(3)], {},
        ["ada", "ben", "eve", "z0", "z1", "z2"]),
    "more edited alike, and contradicted": (
        [handed_in(f"z{n}", result=0.99) for n in range(5)],
        {"contradicted": True}, [f"z{n}" for n in range(5)]),
    "a group has one say": (
        [handed_in(f"z{n}", result=0.99) for n in range(5)],
        {"group": [f"z{n}" for n in range(5)]}, [f"z{n}" for n in range(5)]),
    "on another kind of processor": ([handed_in("abe", result=0.9719)], {}, []),
    "on three kinds of processors": (
        [handed_in(name, result=0.9719) for name in "wxy"] + [handed_in("z", result=0.9738)],
        {}, []),
    "other parameters": ([handed_in("abe", "others", result=0.5)], {}, []),
}  # fmt: skip


@pytest.mark.parametrize(("more", "common", "told"), UNLIKE.values(), ids=UNLIKE)
def test_of_unlike_accuracies_only_who_differs_from_most_is_told(more, common, told):
    found = find_copies([*HONEST, *(run._replace(**common) for run in more)])
    assert sorted(student for student, _ in found) == told
    if "abe" in told:
        assert "; ada: a.out:1" in found["abe", "02"].title


def test_one_edited_seed_does_not_put_the_class_into_doubt():
    prints = [handed_in(f"s{n}", parameters="", losses="same") for n in range(4)]
    edited = handed_in("abe", parameters="", losses="same", settings="another")
    (told,) = find_copies([edited, *prints])
    assert told == ("abe", "02")
    assert find_copies([edited, *prints[:1]]).keys() == {("abe", "02"), ("s0", "02")}
    contradicted = edited._replace(contradicted=True)
    assert [*find_copies([contradicted, *prints[:1]])] == [("abe", "02")]


def run_of(lines):
    run, *_ = read_bytes({"a.out": forge.written(lines).encode()})  # the training comes first
    return run


def test_marks_need_something_that_no_two_runs_share():
    run = run_of(numpy_job())
    assert all((hash_of_seconds(run), hash_of_losses(run), hash_of_parameters(run)))
    assert hash_of_seconds(run_of(changed(numpy_job(), "epoch_stop", seconds=1.0))) == ""
    for loss in (2.302585, 62.17):  # dead and diverged networks
        assert hash_of_losses(run_of(changed(numpy_job(), "epoch_stop", loss=loss))) == ""
    assert hash_of_parameters(run_of(changed(numpy_job(), "rank_end", param_hash=None))) == ""
    mine, other = traits_of(run), traits_of(run_of(honest(numpy_job(77))))
    assert set(mine.marks).isdisjoint(other.marks)
    assert (mine.losses, mine.settings, mine.parameters) == (
        other.losses, other.settings, other.parameters)  # fmt: skip


def test_a_speed_job_has_pauses_and_parameters_that_no_other_job_has():
    """They still tell a copy whose seconds, times and ids were all changed."""
    jobs = [
        forge.as_job(forge.kept("10", "speed"), 1234, "10_speed"),
        honest(forge.as_job(forge.kept("10", "speed"), 77, "10_speed")),
        forge.as_job(forge.kept("07", "speed"), 1234, "07_speed"),
    ]
    mine, copy, other = (set(traits_of(run_of(lines)).marks) for lines in jobs)
    assert len(mine & copy) == 2
    assert not mine & other


def printed(accuracy="0.9531", losses=("0.4123", "0.2154", "0.1687", "0.1402"), steps=938):
    """Return an output without a record, as a program of another course prints it."""
    lines = [f"{steps}/{steps} - 3s - 3ms/step - loss: {loss}" for loss in losses]
    epochs = [f"Epoch {n}/{len(lines)}\n{line}" for n, line in enumerate(lines, 1)]
    text = "\n".join([*epochs, f"Test accuracy: {accuracy}", ""])
    [run] = read_bytes({"a.out": text.encode()})
    assert len(run.epochs) == len(losses)
    assert run.test_accuracy
    return run


SHORT = ("0.41", "0.22", "0.17", "0.14")


@pytest.mark.parametrize(
    ("mine", "other", "is_copy"),
    [
        ({}, {}, True),
        ({}, {"accuracy": "0.9931"}, True),
        ({}, {"losses": ("0.4131", "0.2149", "0.1690", "0.1399")}, False),
        ({"losses": SHORT}, {"losses": SHORT}, True),
        ({"losses": SHORT}, {"losses": SHORT, "accuracy": "0.9602"}, False),
        ({"losses": SHORT}, {"losses": SHORT, "steps": 469}, False),
    ],
)
def test_outputs_without_a_record_are_copies_if_all_is_equal_or_enough_digits_are(
    mine, other, is_copy
):
    prints = [
        Print((name, "01"), "a.out:1", traits_of(printed(**facts)), [name])
        for name, facts in (("ada", mine), ("ben", other))
    ]
    found = find_copies(prints)
    assert {key: note.code for key, note in found.items()} == (
        {(name, "01"): FindingCode.SHARED_RUN for name in ("ada", "ben")} if is_copy else {}
    )
