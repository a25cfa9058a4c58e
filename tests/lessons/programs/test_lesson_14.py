"""Tests of lesson 14's programs: the fast step equals the slow one, and counts are right."""

import subprocess
import sys

import pytest
from real_runs import ROOT, environment

from autograder.reading.files import read_files
from lessons.toolkit import traces

pytestmark = pytest.mark.slow

LESSON = ROOT / "solutions" / "14_profile"


def started(folder, program, *words):
    """Return the runs of a program by their sources; it has to succeed."""
    with (folder / "job.out").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-u", str(LESSON / program), *words],
            cwd=folder, env=environment(), stdout=out, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {run.header["source"]: run for run in read_files([folder / "job.out"])}


def measured(run, name, **at):
    return [each["value"] for each in run.measured(name, **at)]


def test_the_fast_step_trains_like_the_slow_one_and_counts_are_pytorchs(tmp_path):
    run = started(tmp_path, "train.py", "--rounds", "2", "--steps", "4")["step"]
    assert run.outcome == "completed"
    for name in ("flops_error", "roofline_error", "reading_error", "note_error"):
        assert measured(run, name) == [pytest.approx(0, abs=1e-5)], name
    assert measured(run, "step_error") == [pytest.approx(0, abs=1e-9)]
    assert max(measured(run, "loss_apart")) < 1e-3
    counts = {
        way: tuple(measured(run, name, way=way)[0] for name in ("forwards", "waits"))
        for way in ("before", "after")
    }
    assert counts == {"before": (8, 57), "after": (1, 0)}
    assert measured(run, "own_reads", way="before") == [1, 1]
    assert measured(run, "own_reads", way="after") == [0, 0]
    operations = [measured(run, "update_ops", way=way)[0] for way in ("before", "after")]
    assert operations[0] > 200 > 20 > operations[1]
    work = 6 * measured(run, "multiplied")[0] * 256 + 12 * 2 * 64 * 32 * 256
    assert measured(run, "flops") == [work]
    for name in ("before", "after"):
        trace = traces.read(tmp_path / f"trace_{name}.json.gz")
        assert {"part: input", "part: gradients"} <= set(trace["names"])


@pytest.mark.nightly  # the lesson's own run has these ways, and the faults of break_it.py
def test_scaled_float16_trains_like_float32_and_padding_changes_nothing(tmp_path):
    runs = started(tmp_path, "train_ways.py")
    assert set(runs) == {"float32", "bfloat16", "float16", "scaled", "lengths", "padded"}
    loss = {way: run.epochs[-1].train_loss.value for way, run in runs.items()}
    for way in ("bfloat16", "scaled"):
        assert loss[way] == pytest.approx(loss["float32"], abs=0.1)
    assert loss["float16"] > loss["float32"] + 0.15
    assert loss["padded"] == pytest.approx(loss["lengths"], abs=0.01)
    assert measured(runs["scaled"], "scaler_error") == [pytest.approx(0, abs=1e-6)]
    assert measured(runs["padded"], "padding_error") == [pytest.approx(0, abs=1e-9)]
    assert measured(runs["float16"], "zeros")[0] > 0.8 > 0.1 > measured(runs["scaled"], "zeros")[0]
    assert [measured(runs[way], "compilations") for way in ("lengths", "padded")] == [[5], [1]]
