"""A study in one launch: points are measured like runs, and sizes compared within their round."""

import pytest

from autograder.measuring import study_table
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.reading.files import read_bytes
from tests.autograder.make_study import lines_of, study

# The second round was twice as slow for both sizes. Within rounds, the speedup is 1.6 to 1.8.
ROUNDS = [(8.0, 5.0), (16.0, 9.0), (8.2, 4.9)]


def value(name, runs, **at):
    return METRICS[name].function(runs, at)


def test_sizes_are_compared_within_a_round():
    runs = study("epoch", ROUNDS)
    gain = value("study_efficiency", runs)
    assert gain.value == pytest.approx(8.2 / 4.9 / 2)
    assert (gain.low, gain.high) == pytest.approx((0.8, 8 / 9), abs=1e-5)
    assert gain.basis == "median of 3 rounds"


@pytest.mark.parametrize("kind", ["strong", "epoch", "weak"])
def test_each_kind_with_its_work_has_all_sizes(kind):
    runs = study(kind, [(8.0, 5.0, 3.0)] * 3, sizes=(1, 2, 4))
    assert value("study_sizes", runs, repeats=3).value == 3
    assert value("study_sizes", runs, repeats=4).value == 0
    assert value("study_samples", runs, size="smallest").value == 512
    assert value("study_samples", runs).value == (2048 if kind == "weak" else 512)
    assert value("study_batch", runs).value == (64 if kind == "strong" else 256)


WRONG_WORK = {
    "strong": lambda p: (64, 512),
    "epoch": lambda p: (64 // p, 512),
    "weak": lambda p: (64, 512),
}


@pytest.mark.parametrize("kind", WRONG_WORK)
def test_other_work_on_more_ranks_is_another_study(kind):
    runs = study(kind, ROUNDS, work=WRONG_WORK[kind])
    assert value("study_sizes", runs).value == 1


def test_weak_scaling_counts_the_work():
    assert value("study_efficiency", study("weak", ROUNDS)).value == pytest.approx(8.2 / 4.9)


def test_what_was_handed_in_twice_counts_once():
    text = "\n".join(lines_of("epoch", ROUNDS)).encode()
    runs = read_bytes({"a.out": text, "copy.out": text})
    assert value("study_sizes", runs, repeats=3).value == 2
    assert value("study_sizes", runs, repeats=4).value == 0


def test_two_launches_are_one_study_of_more_rounds():
    texts = [lines_of("epoch", ROUNDS, run=run) for run in ("5f0c2a91", "6f0c2a91")]
    runs = read_bytes({f"{n}.out": "\n".join(t).encode() for n, t in enumerate(texts)})
    assert value("study_sizes", runs, repeats=6).value == 2
    assert value("study_sizes", runs, repeats=7).value == 0


@pytest.mark.parametrize(
    "said",
    [{"value": 0}, {"value": "nan"}, {"ranks": 1.5}, {"local_batch": -1}, {"steps": None},
     {"round": True}, {"samples": "many"}],
)  # fmt: skip
def test_a_damaged_point_is_no_measure(said):
    with pytest.raises(NotMeasured):
        value("study_sizes", study("epoch", ROUNDS, **said))


def test_movement_and_spread_are_those_of_the_worst_round():
    runs = study("epoch", ROUNDS, moved=0.0, spread=0.5)
    assert value("study_moved", runs).value == 0
    assert value("study_spread", runs).value == 0.5
    with pytest.raises(NotMeasured):
        value("study_spread", study("epoch", ROUNDS, spread="nan"))


def test_the_table_has_a_row_for_each_size():
    found = dict(study_table.by_kind(study("weak", ROUNDS) + study("epoch", ROUNDS)))
    assert list(found) == ["epoch", "weak"]
    assert [row.ranks for row in found["epoch"]] == [1, 2]
    assert found["epoch"][1].cells == ["2", "3", "5", "4.9", "9", "1.67", "1.60", "1.78", "0.84"]
    assert found["weak"][1].speedup.value == pytest.approx(2 * 8.2 / 4.9)


def test_unfinished_studies_have_no_table():
    lines = lines_of("epoch", ROUNDS)[:-1]
    assert dict(study_table.by_kind(read_bytes({"a.out": "\n".join(lines).encode()}))) == {}
