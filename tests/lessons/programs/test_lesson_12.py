"""Tests of lesson 12's programs on real ranks: strong scaling trains like one rank; a study."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from real_runs import ROOT, environment, meet, run

from autograder.evidence import examine
from autograder.measuring import rounds, scaling_study, study_table
from autograder.measuring.interval import measured_or_none
from autograder.reading.files import read_files

LESSON = ROOT / "solutions" / "12_scaling"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "scaling_steps.py"
SMALL = ("--model", "mlp512", "--batch-size", "48", "--train-samples", "384")
SMALL += ("--test-samples", "200", "--epochs", "2")
FEW = ("--rounds", "3", "--batch-size", "8", "--train-samples", "16")


def after(ranks: int, out: Path, *words: str):
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
    done = subprocess.run(
        [*mpirun, sys.executable, STEPS, out, *SMALL, *words],
        env=environment(**meet()), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return np.load(out)


@pytest.mark.slow
@pytest.mark.ranks
def test_strong_scaling_gives_the_parameters_of_one_rank(tmp_path):
    one = after(1, tmp_path / "one.npz")
    for ranks in (2, 3):
        found = after(ranks, tmp_path / "many.npz", "--scaling", "strong")
        assert (found["batch"], found["steps"]) == (48, 8)
        assert np.ptp(found["weights"], axis=0).max() == 0.0, "the ranks ended unlike"
        np.testing.assert_allclose(found["weights"][0], one["weights"][0], rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(("kind", "batch", "steps"), [("epoch", 96, 4), ("weak", 96, 8)])
def test_the_other_kinds_are_another_training(kind, batch, steps, tmp_path):
    found = after(2, tmp_path / "two.npz", "--scaling", kind)
    assert (found["batch"], found["steps"]) == (batch, steps)
    assert np.ptp(found["weights"], axis=0).max() == 0.0


@pytest.mark.slow
@pytest.mark.ranks
def test_a_study_on_three_ranks_has_all_sizes_and_does_the_work_it_says(tmp_path):
    run_of = {r.header["scaling"]: r for r in study(3, tmp_path)}
    assert list(run_of) == ["strong", "epoch", "weak"]
    for kind, found in run_of.items():
        rows = study_table.rows([found])
        assert [(row.ranks, row.runs) for row in rows] == [(1, 3), (2, 3), (3, 3)]
        assert scaling_study.moved([found], {}).value > 0
        assert scaling_study.spread([found], {}).value == 0
        largest = scaling_study.samples([found], {}).value
        assert largest == (72 if kind == "weak" else 24)
    assert rounds.how_many(run_of["weak"]).value == 3
    assert measured_or_none(rounds.share, run_of["strong"]) is None
    said = examine.examine(list(run_of.values()), []).findings
    assert [finding.title for finding in said if finding.contradicts] == []


def study(ranks, out):
    words = ("--rounds", "3", "--batch-size", "6", "--train-samples", "24")
    with (out / "job.out").open("w") as sink:
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
        done = subprocess.run(
            [*mpirun, sys.executable, "-u", LESSON / "study.py", *words],
            cwd=out, env=environment(**meet()), stdout=sink, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return read_files([out / "job.out"])


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("program", "ranks", "words", "said"),
    [("study.py", 1, FEW, "study.py compares numbers of ranks"),
     ("train.py", 2, ("--scaling", "strong", "--batch-size", "1"), "cannot be divided among 2"),
     ("study.py", 2, ("--train-samples", "30000"), "CIFAR-10 has 50,000. Ask for at most 25000.")],
)  # fmt: skip
def test_one_sentence_where_it_cannot_be(program, ranks, words, said, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / program, ranks, *words, out=tmp_path, **meet())
    assert said in str(failed.value)
    assert "Traceback" not in str(failed.value)


@pytest.fixture
def changed(tmp_path):
    """Return a function that makes the lesson's folder with more code before `plan`."""

    def with_(lines):
        for file in LESSON.glob("*.py"):
            shutil.copy(file, tmp_path)
        train = tmp_path / "train.py"
        train.write_text(train.read_text("utf-8").replace("def plan(", f"{lines}\n\n\ndef plan("))
        return tmp_path / "study.py"

    return with_


@pytest.mark.slow
@pytest.mark.ranks
def test_a_clock_that_the_student_stops_is_not_the_study_s(changed, tmp_path):
    stopped = "import time\ntime.perf_counter = time.monotonic = lambda: 0.0"
    words = ("--scaling", "strong", *FEW)
    found = run(changed(stopped), 2, *words, out=tmp_path, **meet())
    points = [measure["value"] for measure in found.measures if measure["name"] == "point"]
    assert len(points) == 6
    assert min(points) > 0


@pytest.mark.slow
@pytest.mark.ranks
def test_a_plan_that_fails_ends_the_study_with_its_error(changed, tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(changed("raise NotImplementedError('12.1')"), 2, *FEW, out=tmp_path, **meet())
    assert "NotImplementedError: 12.1" in str(failed.value)
    assert "study.py needs `plan` of train.py" in str(failed.value)
