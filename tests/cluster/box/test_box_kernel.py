"""A job submitted from a notebook that is in a job itself, with and without the kernel's start."""

import pytest

pytestmark = pytest.mark.slurm

# What the inner job sees of the outer one's shape; it asks for nothing of the kind itself.
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
    # Without it the shape comes along and srun fails: should Slurm ever stop that, this test would
    # prove nothing, and fails here.
    assert student.read("inherited").splitlines()[0].endswith(" gpus=1")
    assert "inherited: 1" in student.read("outer"), student.read("outer") + student.read(
        "inherited"
    )
