"""Tests that each rank of a node finds its own GPU, or the program ends with one sentence."""

import re

import pytest
from real_runs import ROOT

from lessons.toolkit.ranks import enough_gpus


def started(local_rank, rank=5):
    return {
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(local_rank),
        "SLURM_STEP_NUM_TASKS": "8",
        "SLURM_STEP_ID": "0",
    }


@pytest.mark.parametrize(
    ("in_sight", "environ"),
    [(0, started(3)), (4, started(3)), (1, started(0)), (1, {}), (8, started(7))],
    ids=["no GPU at all", "the last one", "the only one", "not launched", "eight"],
)
def test_a_rank_with_a_gpu_or_none_at_all_goes_on(in_sight, environ):
    enough_gpus(in_sight, environ)


@pytest.mark.parametrize(
    ("in_sight", "local_rank", "seen"), [(1, 1, "sees 1 GPU there"), (2, 3, "sees 2 GPUs there")]
)
def test_a_rank_without_a_gpu_of_its_own_ends_with_one_sentence(in_sight, local_rank, seen):
    with pytest.raises(SystemExit) as ended:
        enough_gpus(in_sight, started(local_rank))
    said = str(ended.value.code)
    assert seen in said
    assert f"Rank 5 is number {local_rank} on " in said
    assert "\n" not in said


def test_every_program_that_takes_the_gpu_of_its_local_rank_asks_first():
    takers = {
        file: file.read_text(encoding="utf-8")
        for file in ROOT.glob("solutions/[0-9]*/*.py")
        if file.name != "lesson.py"
    }
    takers = {
        file: text
        for file, text in takers.items()
        if any(
            taken in text
            for taken in ("set_visible_devices(gpus", 'device("cuda", ', "set_device(")
        )
    }
    assert len(takers) >= 12
    # Lessons 10 to 12 ask where they learn who they are: in the ranks.py beside the program.
    asking = {
        file.parent
        for file in ROOT.glob("solutions/[0-9]*/ranks.py")
        if "enough_gpus(" in file.read_text()
    }
    silent = [
        file
        for file, text in takers.items()
        if "enough_gpus(" not in text
        and "device_count() >= size" not in text  # else it stays on the CPU: lesson 00's first job
        and not ("from ranks import" in text and file.parent in asking)
        and "def own_gpu(" not in text  # lesson 16 counts workers alone, and asks by itself
    ]
    assert silent == []
    assert [
        file
        for file, text in takers.items()
        if re.search(r"% (?:len\(gpus\)|gpus|torch\.cuda\.device_count)", text)
    ] == []
