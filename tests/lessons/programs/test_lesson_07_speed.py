"""Tests of lesson 07's speed job with nothing to compare."""

import pytest
from real_runs import ROOT, run

LESSON = ROOT / "solutions" / "07_horovod"
FEW = ("--rounds", "3", "--steps", "1", "--batch-size", "4")


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(("ranks", "launcher"), [(1, "mpirun"), (2, "gloo")])
def test_one_sentence_where_there_is_nothing_to_compare(ranks, launcher, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "speed.py", ranks, *FEW, out=tmp_path, launcher=launcher)
    assert "speed.py compares ranks" in str(failed.value)
    assert 'speed.py", line' not in str(failed.value)  # horovodrun has a traceback of its own
