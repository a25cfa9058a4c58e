"""Tests of ranks that cannot go on: the launcher fails; rank 0's sentence appears once."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, time
from lessons.toolkit.ranks.leaving import leave
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
time.sleep(0.3 * (rank == 0))  # the others are faster
leave(rank, "There is nothing to do: start with more images")
"""


@pytest.mark.ranks
def test_rank_0_speaks_for_all_even_when_the_others_are_faster():
    mpirun = Path(sys.executable).with_name("mpirun")
    start = [mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "3", sys.executable, "-c"]
    done = subprocess.run([*start, PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert done.stderr.count("There is nothing to do: start with more images") == 1
    assert "Traceback" not in done.stderr
