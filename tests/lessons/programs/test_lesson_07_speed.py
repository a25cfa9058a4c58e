"""Lesson 07's speed job on real ranks, with the student's train.py: what earns the points."""

import shutil
from pathlib import Path

import pytest
from real_runs import ROOT, run, run_together

from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.measuring import rounds
from autograder.settings import rubric

LESSON = ROOT / "solutions" / "07_horovod"
FEW = ("--rounds", "3", "--steps", "1", "--batch-size", "4")
OPTIMIZER = "hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))"
BROADCAST = "    broadcast_variables(model.variables, root_rank=0)\n"

# what stands in train.py, what a student wrote, words of the reason
MISTAKES = {
    "a rate of 0": (OPTIMIZER, OPTIMIZER.replace("lr *", "0 *"), "movement of parameters"),
    "the start not broadcast": (BROADCAST, "    pass\n", "spread of parameters"),
    "averaged in every second step": (
        OPTIMIZER, f"{OPTIMIZER[:-1]}, backward_passes_per_step=2)", "update error",
    ),
    "another rule": (OPTIMIZER, OPTIMIZER.replace("Adam", "SGD"), "update error"),
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What each train.py leaves behind on two ranks, by the name of the mistake."""
    starts = {}
    for name, (old, new, _) in {"right": ("", "", ""), **MISTAKES}.items():
        folder = tmp_path_factory.mktemp("speed")
        shutil.copytree(LESSON, folder, dirs_exist_ok=True)
        text = (folder / "train.py").read_text()
        assert not old or text.count(old) == 1
        (folder / "train.py").write_text(text.replace(old, new) if old else text)
        starts[name] = folder
    records = run_together(Path("speed.py"), 2, dict.fromkeys(starts.values(), FEW))
    return dict(zip(starts, records, strict=True))


def judged(found):
    asked = rubric.load_rubric(rubric.FOLDER / "07.yaml")
    checks = judge(HandIn(asked, [found], {}, None, "smoke")).checks
    return next(check for check in checks if check.id == "speed")


@pytest.mark.slow
@pytest.mark.ranks
def test_the_solution_averages_in_every_round(runs):
    found = runs["right"]
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
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_earns_no_speed(name, runs):
    check = judged(runs[name])
    assert check.score == 0
    assert MISTAKES[name][2] in check.found
    assert "7.2" in check.try_


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(("ranks", "launcher"), [(1, "mpirun"), (2, "gloo")])
def test_one_sentence_where_there_is_nothing_to_compare(ranks, launcher, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "speed.py", ranks, *FEW, out=tmp_path, launcher=launcher)
    assert "speed.py compares ranks" in str(failed.value)
    assert 'speed.py", line' not in str(failed.value)  # horovodrun has a traceback of its own
