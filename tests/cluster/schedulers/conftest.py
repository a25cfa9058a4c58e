"""Provide a shell on a machine with Slurm and a job file."""

import pytest

from tests.cluster.schedulers import fake_slurm


@pytest.fixture
def slurm(shell):
    """Return a shell on a machine whose Slurm commands record their calls."""
    fake_slurm.install(shell)
    shell.write("job.sbatch", "true", "--ntasks=2", "--time=00:10:00", "--output=%x_%j.out")
    return shell
