"""Lesson 17's public checks: the solution passes, and each usual mistake gets its advice."""

import shutil
import sys

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_17 as check
from lessons.toolkit.checks.shared.check import checks_of

LESSON = ROOT / "solutions" / "17_clinic"
PROGRAMS = {
    "17.1": (check.check_17_1, "unused"),
    "17.2": (check.check_17_2, "exact"),
    "17.3": (check.check_17_3, "batchnorm"),
    "17.4": (check.check_17_4, "seeds"),
    "17.5": (check.check_17_5, "tokens"),
    "17.7": (check.check_17_7, "culprit"),
}


@pytest.fixture
def students(tmp_path, monkeypatch):
    """Return a function that returns an exercise's check and its program, with changes."""
    for file in LESSON.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def get(number, *changes):
        function, name = PROGRAMS[number]
        text = (LESSON / f"{name}.py").read_text()
        for old, new in changes:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (tmp_path / f"{name}.py").write_text(text)
        for other in ("dumps", *(program for _, program in PROGRAMS.values())):
            sys.modules.pop(other, None)
        return function, __import__(name)

    yield get
    for other in ("dumps", *(program for _, program in PROGRAMS.values())):
        sys.modules.pop(other, None)


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*PROGRAMS, "17.6"}


def slow_but(number, quick):
    return number if number in quick else pytest.param(number, marks=pytest.mark.slow)


@pytest.mark.parametrize("number", [slow_but(number, ("17.2", "17.7")) for number in PROGRAMS])
def test_the_solution_passes(number, students):
    function, student = students(number)
    function(student)


def test_the_solutions_job_file_passes():
    check.check_17_6(str(LESSON / "job_nodes.sbatch"))


JOBS = [
    (("--nnodes=2 --nproc-per-node=2", "--nnodes 2 --nproc-per-node 2"), None),
    (("--nnodes=2", "--nnodes=$SLURM_NNODES"), None),
    (("--cpus-per-task=3", "--cpus-per-task=1"), "a core for itself"),
    (("--nproc-per-node=2", "--nproc-per-node=4"), "its own node"),
    (("SLURM_JOB_ID % 12000", "0"), "between jobs"),
    (("$(hosts | head -n 1)", "localhost"), "first node"),
]


@pytest.mark.parametrize(("change", "advice"), JOBS)
def test_job_files_for_two_nodes(change, advice, tmp_path):
    text = (LESSON / "job_nodes.sbatch").read_text()
    assert text.count(change[0]) == 1
    job = tmp_path / "job_nodes.sbatch"
    job.write_text(text.replace(*change))
    if advice is None:
        check.check_17_6(str(job))
    else:
        assert_advice(failure(check.check_17_6, str(job)), advice)


WRONG = [
    ("17.1", ", find_unused_parameters=True", "", "Expected to have finished reduction"),
    ("17.2", "sampler=range(rank, len(images), size)",
     "sampler=torch.utils.data.DistributedSampler(images, size, rank)", "pads the shares"),
    ("17.2", "sampler=range(rank, len(images), size)",
     "sampler=range(0 if rank else len(images))", "has more images"),
    ("17.2", "    dist.all_reduce(counts)\n", "", "reduce it after the last batch"),
    ("17.2", "(right / images).mean()", "(right.sum() / images.sum())", "count for each class"),
    ("17.3", "SumOverRanks.apply(torch.cat([x.sum(0), (x * x).sum(0), x.new_tensor([len(x)])]))",
     "torch.cat([x.sum(0), (x * x).sum(0), x.new_tensor([len(x)])])", "all ranks' images"),
    ("17.4", "crops.seed, crops.epoch, crops.rank, worker", "crops.rank + worker", "the same sum"),
    ("17.4", "crops.seed, crops.epoch", "crops.epoch", "the same sum"),
    ("17.4", "[crops.seed, crops.epoch, crops.rank, worker]", "", "not from the clock"),
    ("17.5", "losses * dist.get_world_size() / tokens", "losses / tokens", "with a sum"),
    ("17.7", "max(made, key=made.count)", "made[0]", "most ranks"),
    ("17.7", "for number in sorted({number for own in calls for number in own}):",
     "for number in [max(min(own) and max(own) for own in calls)]:", "(rank, number, name)"),
    ("17.7", "return rank, number, own[0]", "return rank, number, usual[0]", "own call"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "old", "new", "advice"),
    [case if case[0] == "17.7" else pytest.param(*case, marks=pytest.mark.slow) for case in WRONG],
)
def test_a_mistake_has_a_name(number, old, new, advice, students):
    function, student = students(number, (old, new))
    assert_advice(failure(function, student), advice)
