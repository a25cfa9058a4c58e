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


@pytest.mark.slow
def test_a_job_that_left_the_queue_is_looked_up_in_accounting(slurm):
    answer(slurm, sbatch=["Submitted batch job 77\n", "", 0], sacct=["77|CANCELLED by 1\n", "", 0])
    said = slurm.at("box", "submit", "--wait", "job.sbatch", ok=False).stderr
    assert said.splitlines()[-1] == "job 77: CANCELLED"
    answer(slurm, squeue=["", "Invalid job id specified", 1])
    said = slurm.at("box", "logs", "78", ok=False)
    assert "Slurm knows no job 78 of yours (Invalid job id specified)" in said.stderr


def test_the_log_of_a_job_that_sbatch_submitted_is_followed_before_it_starts(slurm):
    rows = ["78|PENDING|Priority|N/A\n", "78|COMPLETED|None|N/A\n"]
    answer(slurm, squeue=[rows, "", 0])
    assert "job 78 is PENDING" in slurm.at("box", "logs", "78", ok=False).stderr
    (slurm.folder / "x_78.out").write_text("hello\n")
    (slurm.home / "calls").unlink()  # the queue answers from the start
    assert slurm.at("box", "logs", "-f", "78").stdout == "hello\n"


@pytest.mark.parametrize(("label", "log"), [("10", "job 10\n"), ("10[]", "")])
def test_a_log_is_found_by_the_jobs_number_and_not_by_the_lessons(slurm, label, log):
    for number in (3, 10, 110):
        (slurm.folder / f"10_native_{number}.out").write_text(f"job {number}\n")
    answer(slurm, squeue=[f"{label}|COMPLETED|None|N/A\n", "", 0])
    assert slurm.at("box", "logs", label, ok=bool(log)).stdout == log


@pytest.mark.parametrize("source", ["squeue", "sacct"])
def test_a_log_says_when_the_end_of_its_job_is_not_recorded_yet(slurm, source):
    (slurm.folder / "x_78.out").write_text("hello\n")
    row = "78|COMPLETING|None|N/A\n" if source == "squeue" else "78|RUNNING\n"
    answer(slurm, **{source: [row, "", 0]})
    done = slurm.at("box", "logs", "78")
    assert done.stdout == "hello\n"
    assert f"job 78: {row.split('|')[1].strip()}" in done.stderr
