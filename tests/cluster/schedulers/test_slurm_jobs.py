"""Test commands about submitted Slurm jobs: waiting and logs."""

import pytest

from cluster.jobs.wait import MEANINGS
from tests.cluster.schedulers.fake_slurm import answer


def test_waiting_shows_state_reason_and_expected_start(slurm):
    rows = [
        "77|PENDING|Resources|2026-11-20T16:00:00\n",
        "77|RUNNING|None|2026-11-20T16:00:00\n",
        "77|PENDING|BeginTime|N/A\n",
        "77|COMPLETED|None|2026-11-20T16:00:00\n",
    ]
    answer(slurm, sbatch=["Submitted batch job 77\n", "", 0], squeue=[rows, "", 0])
    done = slurm.at("box", "submit", "--wait", "job.sbatch")
    assert done.stderr.splitlines()[1:] == [
        "job 77: PENDING (Resources), expected start 2026-11-20T16:00:00",
        "job 77: RUNNING",
        f"job 77: PENDING (BeginTime): {MEANINGS['BeginTime']}",
        "job 77: COMPLETED",
    ]


def test_a_failed_node_is_not_the_jobs_fault(slurm):
    failed = ["77|NODE_FAIL|None|N/A", "", 0]
    answer(slurm, sbatch=["Submitted batch job 77\n", "", 0], squeue=failed)
    said = slurm.at("box", "submit", "--wait", "job.sbatch", ok=False).stderr
    assert MEANINGS["NODE_FAIL"] in said


@pytest.mark.slow
def test_a_job_that_left_the_queue_is_looked_up_in_accounting(slurm):
    answer(slurm, sbatch=["Submitted batch job 77\n", "", 0], sacct=["77|CANCELLED by 1\n", "", 0])
    said = slurm.at("box", "submit", "--wait", "job.sbatch", ok=False).stderr
    assert said.splitlines()[-1] == "job 77: CANCELLED"
    answer(slurm, squeue=["", "Invalid job id specified", 1])
    said = slurm.at("box", "logs", "78", ok=False)
    assert "Slurm knows no job 78 of yours (Invalid job id specified)" in said.stderr
