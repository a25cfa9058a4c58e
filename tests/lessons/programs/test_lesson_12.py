"""Tests of lesson 12's programs on real ranks: strong scaling trains like one rank; a study."""

import subprocess
import sys

import numpy as np
import pytest
from forked_runs import run_forked
from real_runs import ROOT, copy_changed, environment, launch, meet

from autograder.evidence import examine
from autograder.measuring import rounds, study_table
from autograder.measuring.interval import measured_or_none
from autograder.measuring.metrics import METRICS
from autograder.reading.files import read_files

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "12_scaling"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "scaling_steps.py"
SMALL = ("--model", "mlp512", "--batch-size", "48", "--train-samples", "384")
SMALL += ("--test-samples", "200", "--epochs", "2")


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """Return the state after training as a function of ranks and kind of scaling."""
    root = tmp_path_factory.mktemp("ranks")
    kinds = {1: "strong", 2: "strong,epoch,weak", 3: "strong"}
    run_forked(
        *((ranks, [(root / str(ranks), STEPS, asked, *SMALL)]) for ranks, asked in kinds.items())
    )
    return lambda ranks, kind: np.load(root / str(ranks) / f"{kind}.npz")


@pytest.mark.parametrize("ranks", [2, 3])
def test_strong_scaling_gives_the_parameters_of_one_rank(ranks, after):
    found = after(ranks, "strong")
    assert (found["batch"], found["steps"]) == (48, 8)
    assert np.ptp(found["weights"], axis=0).max() == 0.0, "the ranks ended unlike"
    one = after(1, "strong")["weights"][0]
    np.testing.assert_allclose(found["weights"][0], one, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("kind", "batch", "steps"), [("epoch", 96, 4), ("weak", 96, 8)])
def test_the_other_kinds_are_another_training(kind, batch, steps, after):
    found = after(2, kind)
    assert (found["batch"], found["steps"]) == (batch, steps)
    assert np.ptp(found["weights"], axis=0).max() == 0.0


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return kind -> run of a study on three ranks, with a train.py that stops its clock."""
    folder = tmp_path_factory.mktemp("study")
    stopped = "import time\ntime.perf_counter = time.monotonic = lambda: 0.0\n\n\n"
    copy_changed(LESSON, folder, "train.py", ("def plan(", f"{stopped}def plan("))
    words = ("--rounds", "3", "--batch-size", "6", "--train-samples", "12", "--weak-samples", "18")
    with (folder / "job.out").open("w") as sink:
        done = subprocess.run(
            [*launch(3, "mpirun"), sys.executable, "-u", "study.py", *words],
            cwd=folder, env=environment(**meet()), stdout=sink, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {run.header["scaling"]: run for run in read_files([folder / "job.out"])}


def test_a_study_on_three_ranks_has_all_sizes_and_does_the_work_it_says(study):
    assert list(study) == ["strong", "epoch", "weak"]
    for kind, found in study.items():
        rows = study_table.rows([found])
        assert [(row.ranks, row.runs) for row in rows] == [(1, 3), (2, 3), (3, 3)]
        assert METRICS["study_moved"].function([found], {}).value > 0
        assert METRICS["study_spread"].function([found], {}).value == 0
        largest = METRICS["study_samples"].function([found], {}).value
        assert largest == (3 * 18 if kind == "weak" else 12)
    assert rounds.how_many(study["weak"]).value == 3
    assert measured_or_none(rounds.share, study["strong"]) is None
    said = examine.examine(list(study.values()), []).findings
    assert [finding.title for finding in said if finding.contradicts] == []


def test_a_clock_that_the_student_stops_is_not_the_study_s(study):
    for found in study.values():
        points = [measure["value"] for measure in found.measured("point")]
        assert len(points) == 9
        assert min(points) > 0
