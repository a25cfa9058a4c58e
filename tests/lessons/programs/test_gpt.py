"""Tests of lesson 00's small GPT: it learns on two ranks as on one, and dies with a rank."""

import subprocess
import sys

import pytest
from forked_runs import run_forked
from real_runs import ROOT, environment, meet

from autograder.codes import Outcome
from autograder.reading.files import read_files

FOLDER = ROOT / "solutions" / "00_cluster"
PROGRAM = FOLDER / "train_gpt.py"
FEW = ("--epochs", "3", "--windows", "320", "--width", "64")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Train equally on one rank and on two: each step has the same 16 windows."""
    root = tmp_path_factory.mktemp("ranks")
    jobs = [
        (ranks, [(root / str(ranks), PROGRAM, *FEW, "--batch-size", str(batch))])
        for ranks, batch in ((1, 16), (2, 8))
    ]
    return {int(folder.name): run for folder, [run] in run_forked(*jobs).items()}


@pytest.mark.slow
@pytest.mark.ranks
def test_two_ranks_learn_what_one_learns(runs):
    assert {rank.rank for rank in runs[2].ranks} == {0, 1}
    assert runs[2].end["param_spread"] == 0
    assert runs[2].test_loss.value == pytest.approx(runs[1].test_loss.value, rel=1e-3)
    losses = [epoch.train_loss.value for epoch in runs[2].epochs]
    assert losses == sorted(losses, reverse=True)
    assert [epoch.unique_samples for epoch in runs[2].epochs] == [320] * 3


@pytest.mark.slow
@pytest.mark.ranks
def test_a_killed_rank_ends_the_job(tmp_path):
    with (tmp_path / "job.out").open("w") as out, (tmp_path / "job.err").open("w") as err:
        done = subprocess.run(
            ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2",
             sys.executable, "-u", PROGRAM, *FEW, "--kill", "1"],
            cwd=tmp_path, env=environment(**meet()), stdout=out, stderr=err, timeout=120,
        )  # fmt: skip
    assert done.returncode != 0
    [found] = read_files([tmp_path / "job.out", tmp_path / "job.err"])
    assert found.outcome == Outcome.FAILED
    assert len(found.epochs) == 2
    assert "signal 9" in (tmp_path / "job.err").read_text()
