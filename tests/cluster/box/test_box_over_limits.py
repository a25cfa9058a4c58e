"""Jobs that exceed their limits of time and memory.

By its name, this file runs after others: Slurm's smallest time limit is a minute (`overtime`).
"""

import pytest

pytestmark = pytest.mark.slurm


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
