"""A job submitted from a notebook inside a job, with and without the kernel's start script."""

import pytest

pytestmark = pytest.mark.slurm

# Which part of the outer job's shape the inner job sees; it requests none of that itself.
INNER = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --ntasks-per-node=2
#SBATCH --time=2
echo "cores=${SLURM_CPUS_PER_TASK:-none} gpus=${SLURM_GPUS_PER_NODE:-none}"
srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS with ${SLURM_CPUS_PER_TASK:-no} cores"'
"""
OUTER = """source /etc/profile
module load dl-course
export JUPYTER_DATA_DIR=$PWD/jupyter
cluster kernel install >/dev/null
sbatch --wait --output=inherited inner.sh || echo "inherited: $?"
bash jupyter/kernels/dl-course/start.sh sbatch --wait --output=clean inner.sh
"""


def test_the_kernels_start_takes_the_shape_of_its_own_job_away(student):
    student.write("inner.sh", INNER)
    job = student.submit("--cpus-per-task=3 --gpus-per-node=1 --time=5 --output=outer", OUTER)
    assert student.wait(job, seconds=150)["state"] == "COMPLETED", student.read("outer")
    clean = student.read("clean").splitlines()
    assert clean[0] == "cores=none gpus=none"
    assert sorted(clean[1:]) == [f"rank {rank} of 4 with no cores" for rank in range(4)]
    # Without the kernel's start script, the shape is inherited and srun fails. If Slurm ever stops
    # that, this test proves nothing, so it fails here.
    assert student.read("inherited").splitlines()[0].endswith(" gpus=1")
    assert "inherited: 1" in student.read("outer"), student.read("outer") + student.read(
        "inherited"
    )
