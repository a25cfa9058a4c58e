"""Tests that a rank trains on its own GPU or on the CPU, or ends with one sentence."""

import os
import subprocess
import sys

import pytest
from real_runs import ROOT

from lessons.toolkit.ranks import enough_gpus
from tests.breadth import breadth

GIVEN = {"SLURM_JOB_GPUS": "0,1,2,3", "SLURM_GPUS_ON_NODE": "4"}
ALLOWED = {"COURSE_DEVICE": "cpu"}


def started(local_rank, rank=5):
    return {
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(local_rank),
        "SLURM_STEP_NUM_TASKS": "8",
        "SLURM_STEP_ID": "0",
    }


@pytest.mark.parametrize(
    ("in_sight", "environ"),
    [
        (0, started(3)),
        (4, started(3)),
        (1, started(0) | GIVEN),
        (1, {}),
        (8, started(7)),
        (0, started(3) | GIVEN | ALLOWED),
        (0, {"SLURM_GPUS_ON_NODE": "0", "SLURM_GPUS_PER_NODE": "", "SLURM_JOB_ID": "7"}),
        (0, {"CUDA_VISIBLE_DEVICES": "NoDevFiles"}),  # what Slurm sets in a job without GPUs
        (0, {"CUDA_VISIBLE_DEVICES": ""}),
    ],
)
def test_a_rank_with_a_gpu_or_without_any_for_the_job_goes_on(in_sight, environ):
    enough_gpus(in_sight, environ=environ)


@pytest.mark.parametrize(
    ("in_sight", "local_rank", "seen"), [(1, 1, "sees 1 GPU there"), (2, 3, "sees 2 GPUs there")]
)
def test_a_rank_without_a_gpu_of_its_own_ends_with_one_sentence(in_sight, local_rank, seen):
    with pytest.raises(SystemExit) as ended:
        enough_gpus(in_sight, environ=started(local_rank) | GIVEN)
    said = str(ended.value.code)
    assert seen in said
    assert f"Rank 5 is number {local_rank} on " in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "asked",
    [
        *("SLURM_JOB_GPUS=0", "SLURM_STEP_GPUS=3", "SLURM_GPUS_ON_NODE=1", "SLURM_GPUS=a100:4"),
        *("SLURM_GPUS_PER_NODE=gpu:2", "SLURM_GPUS_PER_TASK=1", "PBS_GPUFILE=/var/spool/7.gpus"),
        *("CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=GPU-aaaaaaaa"),
    ],
)
@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_in_a_job_with_gpus_no_program_trains_on_the_cpu_in_silence(asked, framework, monkeypatch):
    for name in ("torch", "tensorflow"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, framework, type(sys)(framework))
    name, _, value = asked.partition("=")
    with pytest.raises(SystemExit) as ended:
        enough_gpus(0, environ=started(2) | {name: value})
    said = str(ended.value.code)
    assert "\n" not in said
    for part in (asked, framework, "rank 5", "COURSE_DEVICE=cpu"):
        assert part in said


def test_gpus_that_the_job_hides_are_not_the_drivers_fault():
    """Lesson 15's elastic job hides a single GPU from both of its agents."""
    with pytest.raises(SystemExit, match="CUDA_VISIBLE_DEVICES hides them"):
        enough_gpus(0, environ={"SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": ""})


@pytest.mark.parametrize(
    "program", breadth(["02_serial/train_torch.py", "02_serial/train.py"], quick=0)
)
def test_a_real_program_ends_with_the_sentence(program):
    environ = os.environ | {"PYTHONPATH": str(ROOT), "SLURM_GPUS_ON_NODE": "1"}
    environ.pop("COURSE_DEVICE", None)
    words = [sys.executable, ROOT / "solutions" / program, "--train-samples", "64"]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "This job has GPUs (SLURM_GPUS_ON_NODE=1)" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_cpu_that_is_asked_for_hides_all_gpus_and_is_in_the_header():
    """Before a framework is imported, since it may look for GPUs at any time afterwards."""
    show = (
        "import os; import lessons.toolkit.ranks; from lessons.toolkit.record import Run; "
        "print(repr(os.environ['CUDA_VISIBLE_DEVICES'])); Run('01', {}, source='x').end()"
    )
    environ = os.environ | ALLOWED | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "0,1"}
    done = subprocess.run([sys.executable, "-c", show], env=environ, capture_output=True, text=True)
    assert done.stdout.startswith("''\n"), done.stderr


def test_every_program_that_can_use_a_gpu_asks_first():
    texts = {
        file: file.read_text(encoding="utf-8")
        for file in ROOT.glob("solutions/[0-9]*/*.py")
        if file.name != "lesson.py"
    }
    # Lessons 10 to 12 ask where they learn who they are: in the ranks.py beside the program.
    asking = {file.parent for file, text in texts.items() if file.name == "ranks.py"}
    assert all("enough_gpus(" in texts[folder / "ranks.py"] for folder in asking)
    takers = {
        file: text
        for file, text in texts.items()
        if "cuda.is_available()" in text or 'list_physical_devices("GPU")' in text
    }
    assert len(takers) >= 20
    assert [
        file
        for file, text in takers.items()
        if "enough_gpus(" not in text
        and not ("who_am_i" in text or ("start_ranks(rank" in text and file.parent in asking))
    ] == []


def test_only_the_job_file_that_counts_what_gloo_sends_chooses_the_cpu():
    files = [*ROOT.glob("solutions/[0-9]*/*.sbatch"), *ROOT.glob("lessons/[0-9]*/*.sbatch")]
    assert len(files) > 100
    chosen = [file for file in files if "COURSE_DEVICE" in file.read_text(encoding="utf-8")]
    assert {f"{file.parent.name}/{file.name}" for file in chosen} == {"13_shard/job_nodes.sbatch"}
