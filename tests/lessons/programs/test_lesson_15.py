"""Tests of lesson 15 on real ranks: a training that is killed ends as one that is not."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from real_runs import ROOT, environment, meet

from autograder.reading.files import read_files
from cluster.sites import site_files
from lessons.toolkit.probes.logbook import lines_of, lives_of

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "15_survive"
GPUS = ("COURSE_DEVICE", "CUDA_VISIBLE_DEVICES")
SLOW_DISK = """
import runpy, sys, time, torch
save = torch.save
torch.save = lambda *given, **options: (time.sleep(0.01), save(*given, **options))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
SMALL = ("--windows", "48", "--global-batch", "8", "--most", "4", "--epochs", "2", "--width", "32")


def submit(folder, job, *words):
    """Submit a job file to the laptop's queue in this folder, and return its finished runs."""
    for file in LESSON.glob("*.py"):
        (folder / file.name).write_bytes(file.read_bytes())
    for file in LESSON.glob("*.sbatch"):
        (folder / file.name).write_bytes(file.read_bytes())
    own = environment(HOME=str(folder), COURSE_LAPTOP_QUEUE=str(folder / "queue"))
    own = {name: value for name, value in own.items() if not name.startswith("SLURM_")}
    own["COURSE_SITE"] = str(site_files.FOLDER / "laptop.sh")
    command = [str(Path(sys.executable).with_name("cluster")), "submit"]
    done = subprocess.run(
        [*command, "--wait", "--output=job.out", "--error=job.err", job, *words],
        cwd=folder, env=own, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:] + (folder / "job.err").read_text()[-2000:]
    return [run for run in read_files([folder / "job.out"]) if run.outcome == "completed"]


def measured(run, name):
    return [m["value"] for m in run.measures if m["name"] == name]


def hashes(*runs):
    return {rank.param_hash for run in runs for rank in run.ranks}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the training without an accident, and its probe."""
    return submit(tmp_path_factory.mktemp("whole"), "job.sbatch", *SMALL, "--every", "3")


@pytest.mark.parametrize(
    ("wrote", "goes_on"), [(2, 3), pytest.param(3, 1, marks=pytest.mark.nightly)]
)
def test_other_ranks_continue_a_sharded_training_that_was_killed_while_it_saved(
    wrote, goes_on, tmp_path
):
    def start(ranks, *words):
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
        command += [str(ranks), sys.executable, "-c", SLOW_DISK, str(LESSON / "shards.py"), *words]
        own = environment(**meet(), PYTHONPATH=f"{LESSON}:{ROOT}")
        return subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, timeout=120)

    assert start(wrote, "--kill-writing", "8").returncode != 0
    assert (tmp_path / "shards/step_000008.writing").exists()
    (tmp_path / "job.out").write_bytes(start(goes_on).stdout)
    [run] = read_files([tmp_path / "job.out"])
    assert measured(run, "resumed_from") == [4]
    assert measured(run, "from_one")[0] < 1e-9


def test_what_a_rank_that_waits_may_cost_comes_last():
    last = "import probe; print(*list(probe.TESTS.values())[-1])"
    command = [sys.executable, "-c", last]
    found = subprocess.check_output(command, cwd=LESSON, env=environment(), text=True)
    assert found.split() == ["shards_wrong"]


def test_a_batch_shell_passes_the_queues_signal_on(whole, tmp_path):
    """USR1 comes once, in the first life, from a thread that plays the queue."""
    shells = []

    def send():
        book = tmp_path / "checkpoints/1/journal_0.jsonl"
        while not (book.exists() and '"done": 3' in book.read_text()):
            time.sleep(0.1)
        job = json.loads((tmp_path / "queue/jobs/1/job.json").read_text())
        shell = subprocess.check_output(["pgrep", "-P", str(job["supervisor"])], text=True)
        shells.append(int(shell.split()[0]))
        os.kill(shells[0], signal.SIGUSR1)

    queue = threading.Thread(target=send, daemon=True)
    queue.start()
    [run] = submit(tmp_path, "job_shell.sbatch", *SMALL, "--every", "99", "--pace", "0.3")
    assert len(shells) == 1
    assert hashes(run) == hashes(whole[0])
    lives = lives_of(lines_of(tmp_path / "checkpoints/1", 0))
    assert [(life["ended"], life["lost"]) for life in lives] == [("warning", 0), ("end", 0)]


@pytest.mark.parametrize(
    ("variables", "sees"),
    [
        ({}, {"0 -", "1 -"}),  # as on a laptop, and as nvidia-smi below says
        ({"CUDA_VISIBLE_DEVICES": "2,3"}, {"2 -", "3 -"}),
        ({"CUDA_VISIBLE_DEVICES": "5"}, {" -"}),
        ({"CUDA_VISIBLE_DEVICES": ""}, {" -"}),
    ],
)
def test_each_elastic_agent_has_a_gpu_of_its_own_or_both_none(variables, sees, tmp_path):
    agent = '{ echo "${CUDA_VISIBLE_DEVICES-} ${COURSE_DEVICE:--}" >>agents; }'
    site = f"facts() {{ :; }}\nin_container() {agent}\nnvidia-smi() {{ printf '0\\n1\\n2\\n'; }}\n"
    (tmp_path / "site.sh").write_text(site)
    own = environment(COURSE_SITE=str(tmp_path / "site.sh"), SLURM_JOB_ID="7")
    own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "20000"}
    own = {name: value for name, value in own.items() if name not in GPUS} | variables
    subprocess.run(["bash", LESSON / "job_elastic.sbatch"], cwd=tmp_path, env=own, check=True)
    *agents, _ = (tmp_path / "agents").read_text().splitlines()  # the last one is the probe
    assert set(agents) == sees
