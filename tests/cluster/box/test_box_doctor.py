"""The doctor as a job on two nodes with two ranks each, which a first day runs too."""

import json

import pytest

from tests.cluster.box_students import ON_BOX

pytestmark = pytest.mark.slurm


def test_the_wrong_plug_in_is_named_on_all_ranks(student):
    """With srun --mpi=pmi2 and Open MPI 5, four programs run alone."""
    wrong = "s/^ *launch_ranks/export SLURM_MPI_TYPE=pmi2; srun --mpi=pmi2 -n/"
    student.do(f"module load dl-course && cluster doctor --job | sed '{wrong}' > doctor.sbatch")
    submit = "cluster submit --nodes=2 --ntasks=4 --ntasks-per-node=2 doctor.sbatch"
    job = student.do(f"{ON_BOX} && {submit} --only mpi --only launch --json").split()[-1]
    student.wait(job, seconds=120)
    assert student.do("ls -A").split() == ["doctor.sbatch", f"doctor_{job}.out"]
    lines = student.read(f"doctor_{job}.out").splitlines()
    found = [json.loads(line) for line in lines if line.startswith('{"probe"')]
    alone = [each for each in found if each["probe"] == "launch"]
    assert {each["rank"] for each in alone} == {0, 1, 2, 3}
    assert all("srun started 4 ranks, but MPI sees 1" in each["found"] for each in alone)
    (plug_in, other) = [each for each in found if each["probe"] == "mpi"]  # one for each node
    assert plug_in["node"] != other["node"]
    assert plug_in["state"] == "broken"
    assert plug_in["advice"].startswith("srun --mpi=pmix")
