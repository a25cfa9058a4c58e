"""Tests of lesson 07's speed job: honest ranks of two launchers, and a single one."""

import pytest
from real_runs import ROOT, run

LESSON = ROOT / "solutions" / "07_horovod"
FEW = ("--rounds", "3", "--steps", "1", "--batch-size", "4")


@pytest.mark.slow
@pytest.mark.ranks
def test_one_sentence_where_there_is_nothing_to_compare(tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "speed.py", 1, *FEW, out=tmp_path)
    assert "speed.py compares ranks" in str(failed.value)
    assert 'speed.py", line' not in str(failed.value)


@pytest.mark.nightly  # In the lesson's own speed job, the same measures are graded.
@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("launcher", ["mpirun", "gloo"])
def test_the_updates_of_the_measured_rounds_are_means_over_the_ranks(launcher, tmp_path):
    found = run(LESSON / "speed.py", 2, *FEW, out=tmp_path, launcher=launcher)
    assert {"speed.py", "train.py", "resnet.py"} <= set(found.program.files)
    assert found.end["param_spread"] == 0.0
    assert found.header["params"] == 273_658  # as the rubric asks for
    assert found.header["lr"] == 2 * found.header["lr_base"]
    assert [measure["name"] for measure in found.measures].count("round") == 3
    assert found.measures[-1]["name"] == "update_error"
    assert found.measures[-1]["value"] < 1e-2
