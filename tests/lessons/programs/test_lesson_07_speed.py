"""Lesson 07's speed job on real ranks, with the solution's train.py; mistakes are planted ones."""

import pytest
from real_runs import ROOT, run

from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.measuring import rounds
from autograder.settings import rubric

LESSON = ROOT / "solutions" / "07_horovod"
FEW = ("--rounds", "3", "--steps", "1", "--batch-size", "4")


def judged(found):
    asked = rubric.load_rubric(rubric.FOLDER / "07.yaml")
    checks = judge(HandIn(asked, [found], {}, None, "smoke")).checks
    return next(check for check in checks if check.id == "speed")


@pytest.mark.slow
@pytest.mark.ranks
def test_the_solution_averages_in_every_round(tmp_path):
    found = run(LESSON / "speed.py", 2, *FEW, out=tmp_path)
    assert found.outcome == "completed"
    assert len(rounds.rounds(found)) == 3
    [error] = [m["value"] for m in found.measures if m["name"] == "update_error"]
    assert error <= 1e-3
    # So few and short rounds say nothing of speed; all else that is asked for holds.
    missed = {part.name for part in judged(found).parts if part.credit < 1}
    assert missed <= {"share of the ceiling of speed", "rounds of speed"}
    assert len({rank.param_hash for rank in found.ranks}) == 1


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(("ranks", "launcher"), [(1, "mpirun"), (2, "gloo")])
def test_one_sentence_where_there_is_nothing_to_compare(ranks, launcher, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "speed.py", ranks, *FEW, out=tmp_path, launcher=launcher)
    assert "speed.py compares ranks" in str(failed.value)
    assert 'speed.py", line' not in str(failed.value)  # horovodrun has a traceback of its own
