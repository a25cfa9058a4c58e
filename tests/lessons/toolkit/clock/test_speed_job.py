"""Tests of speed jobs on real ranks: what honest ones record, and what tricks are worth."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from real_runs import environment, meet
from record_lines import events, of

from tests.breadth import breadth

TOY = Path(__file__).with_name("toy.py")
SLEEP_S = 0.3  # of toy.py's slow average
pytestmark = pytest.mark.ranks


def started(folder, *words, ranks=2, **environ):
    """Run toy.py in a folder, as a student's program."""
    shutil.copy(TOY, folder / "speed.py")
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
    return subprocess.run(
        [*mpirun, str(ranks), sys.executable, "speed.py", *words],
        env=environment(**meet() | environ), cwd=folder, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip


def measured(folder, *words, ranks=2, **environ):
    """Return the values of the rounds, and of the measure `update_error`."""
    done = started(folder, *words, ranks=ranks, **environ)
    assert done.returncode == 0, done.stderr[-2000:]
    found = events(done.stdout)
    # Nobody chooses a speed job's seeds, so equal parameters show that two outputs are one job.
    assert all(event["value"]["param_hash"] for event in of(found, "rank_end"))
    values = [event["value"] for event in of(found, "measure")]
    [error] = [value["value"] for value in values if value["name"] == "update_error"]
    return [value for value in values if value["name"] == "round"], error


@pytest.mark.slow
def test_what_an_honest_job_records(tmp_path):
    rounds, error = measured(tmp_path, "--rounds", "4", ranks=3)
    assert [value["round"] for value in rounds] == [1, 2, 3, 4]
    for value in rounds:
        assert min(value["alone_s"], value["silent_s"], value["value"], value["moved"]) > 0
        assert min(value["silent_cores"], value["together_cores"]) > 0
        assert (value["samples"], value["spread"]) == (8, 0)
        assert 2 <= value["steps"] <= 4, "as many as asked for, give or take a half"
    assert error < 1e-5
    assert len({value["seed"] for value in rounds}) == 4


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["half of the batch", "averages nothing"])
def test_the_real_update_is_compared(fault, tmp_path):
    rounds, error = measured(tmp_path, LEARNER=fault)
    assert error > 0.1
    assert (rounds[-1]["spread"] > 0) == (fault == "averages nothing")


@pytest.mark.slow
def test_a_clock_that_the_student_replaces_is_not_the_job_s(tmp_path):
    rounds, _ = measured(tmp_path, LEARNER="keeps another time")
    for value in rounds:
        assert value["value"] >= value["steps"] * SLEEP_S


@pytest.mark.slow
def test_the_student_s_processes_stand_still_while_the_yardstick_works(tmp_path):
    measured(tmp_path, LEARNER="burns the core")
    assert len(list(tmp_path.glob("*.learner"))) == 4, "on both ranks also a process in hiding"
    seen = [file.read_text() for file in tmp_path.glob("*.yardstick")]
    assert len(seen) == 2
    assert {state for states in seen for state in states} == {"T"}  # stopped, says the kernel


@pytest.mark.slow
def test_modules_in_the_folder_or_the_path_replace_nothing(tmp_path):
    path = tmp_path / "path"
    path.mkdir()
    stopped = "import time\ntime.perf_counter = lambda: 0.0\n"
    (path / "sitecustomize.py").write_text(stopped)
    (tmp_path / "secrets.py").write_text(f"{stopped}def randbits(bits):\n    return 7\n")
    where = os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])
    both = [measured(tmp_path, PYTHONPATH=where)[0] for _ in range(2)]
    assert all(value["alone_s"] > 0 for rounds in both for value in rounds)
    assert len({value["seed"] for rounds in both for value in rounds}) == 6


@pytest.mark.parametrize(
    ("fault", "words"),
    breadth(
        [
            ("fails", "Rank 1: train.py failed"),
            ("is late", "parameters changed after the end of a phase"),
            ("slows the yardstick", "got fewer cores or a lower priority"),
            ("dies", "Rank 1: the learner process has ended"),
        ],
        quick=0,
    ),
)
def test_all_ranks_end_with_one_sentence(fault, words, tmp_path):
    done = started(tmp_path, LEARNER=fault)
    assert done.returncode != 0
    assert words in done.stderr
    assert ("Exercise 1.1" in done.stderr) == (fault == "fails"), "with the learner's traceback"
    assert ("Traceback" in done.stderr) == (fault == "fails")
    assert not of(events(done.stdout), "run_stop")


def test_one_rank_has_nothing_to_compare(tmp_path):
    done = started(tmp_path, ranks=1)
    assert done.returncode != 0
    assert "speed.py compares ranks" in done.stderr
