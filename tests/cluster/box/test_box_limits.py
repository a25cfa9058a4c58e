"""Requests that the box cannot fulfil, and a job that exceeds its time limit."""

import pytest

pytestmark = pytest.mark.slurm


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--account=physics", "Invalid account"),
        ("--partition=debug --nodes=3", "Node count specification invalid"),
        ("--gres=gpu:5", "node configuration is not available"),
        ("--partition=debug --time=60", "Requested time limit is invalid"),
    ],
)
def test_impossible_requests_are_refused_at_once(student, options, reason):
    student.write("job.sh", "#!/bin/bash\ntrue\n")
    refused = student.try_to(f"sbatch {options} job.sh")
    assert refused.returncode != 0
    assert reason in refused.stderr


def test_time_limit(overtime):
    student, job = overtime
    account = student.wait(job, seconds=150)
    assert account["state"] == "TIMEOUT"
    assert 60 <= int(account["elapsedraw"]) < 150


FILL = "python3 -c 'import time; whole = bytearray(b\"x\") * {} * 2**20; time.sleep(12)'"


def test_memory_limit(student):
    """It takes twelve seconds: Slurm checks every five if the kernel does not limit memory."""
    over, within = (
        student.submit(f"--mem=300M --output={size}", f"echo began; {FILL.format(size)}")
        for size in (1500, 100)
    )
    assert student.wait(over)["state"] == "OUT_OF_MEMORY"
    assert student.wait(within)["state"] == "COMPLETED"
