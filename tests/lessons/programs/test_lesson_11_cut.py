"""Tests of lesson 11's cut layers on real ranks, and of the record's values."""

import pytest
from real_runs import ROOT, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "11_pipeline"
SMALL = ("--width", "37", "--batch-sizes", "96", "--steps", "3", "--depth", "4")


def measured(found, name):
    return [m for m in found.measures if m["name"] == name]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_cut_layers_are_the_whole_ones(ranks, tmp_path):
    """With 37 numbers and 10 digits, no part is as large as the others."""
    found = run(LESSON / "tensor_parallel.py", ranks, *SMALL, out=tmp_path)
    assert found.outcome == "completed"
    assert len(found.ranks) == ranks
    [difference] = measured(found, "difference_to_serial")
    assert difference["value"] < 1e-12
    steps = {step["way"]: step for step in measured(found, "step_s")}
    assert steps["data"]["difference"] < 1e-12
    assert found.end["param_moved"] > 1e-3
    [over] = measured(found, "held_over_part")
    assert 1 <= over["value"] < 1.1
    ring = 2 * (ranks - 1) / ranks * 8
    sent = {"data": 37 * (785 + 2 * 38) + 10 * 38, "tensor": 96 * (37 + 37 + 10)}
    for way, numbers in sent.items():
        assert ring * numbers < steps[way]["bytes"] < 1.2 * ring * numbers
    assert measured(found, "bytes_error")[0]["value"] == 0


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (1, (), "start at least two, by mpirun or srun"),
        (2, ("--width", "1"), "--width 1 cannot be cut into 2 parts"),
        (2, ("--depth", "3"), "--depth is an even number"),
    ],
)
def test_one_sentence_for_what_cannot_be_cut(ranks, words, said, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "tensor_parallel.py", ranks, *words, out=tmp_path)
    assert said in str(failed.value)
    assert "Traceback" not in str(failed.value)
