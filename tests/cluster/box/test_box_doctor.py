"""The doctor as a student's job on two nodes with two ranks each."""

import json

import pytest

from tests.cluster.box_students import ON_BOX

pytestmark = pytest.mark.slurm


def doctor(student, words: str, launch: str = "") -> str:
    """Return what the doctor's job prints on 2 nodes with 2 ranks each."""
    edit = f"| sed '{launch}'" if launch else ""
    student.do(f"module load dl-course && cluster doctor --job {edit} > doctor.sbatch")
    shape = "--nodes=2 --ntasks=4 --ntasks-per-node=2"
    said = student.do(f"{ON_BOX} && cluster submit {shape} doctor.sbatch {words}")
    job = said.split()[-1]
    student.wait(job, seconds=120)
    assert student.do("ls -A").split() == ["doctor.sbatch", f"doctor_{job}.out"]
    output = student.read(f"doctor_{job}.out")
    student.do(f"rm doctor_{job}.out")
    return output


def findings(output: str) -> list[dict]:
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"probe"')]


def test_two_nodes_report_and_their_ranks_meet(student):
    asked = ("site", "python", "mpi", "horovod", "launch", "sum")
    found = findings(doctor(student, "--json " + " ".join(f"--only {name}" for name in asked)))
    assert {each["state"] for each in found} == {"ok"}
    nodes = {each["node"] for each in found}
    assert len(nodes) == 2
    seen = sorted((each["probe"], each["node"]) for each in found if each["probe"] in asked[:4])
    assert seen == sorted((probe, node) for probe in asked[:4] for node in nodes)
    for probe in ("launch", "sum"):
        ranks = [each for each in found if each["probe"] == probe]
        assert sorted(each["rank"] for each in ranks) == [0, 1, 2, 3]
        assert {each["facts"]["ranks"] for each in ranks} == {4}


def test_the_wrong_plug_in_is_named_on_all_ranks(student):
    """With srun --mpi=pmi2 and Open MPI 5, four programs run alone."""
    wrong = "s/^ *launch_ranks/export SLURM_MPI_TYPE=pmi2; srun --mpi=pmi2 -n/"
    found = findings(doctor(student, "--only mpi --only launch --json", wrong))
    alone = [each for each in found if each["probe"] == "launch"]
    assert {each["rank"] for each in alone} == {0, 1, 2, 3}
    assert all("srun started 4 ranks, but MPI sees 1" in each["found"] for each in alone)
    (plug_in, _) = [each for each in found if each["probe"] == "mpi"]
    assert plug_in["state"] == "broken"
    assert plug_in["advice"].startswith("srun --mpi=pmix")
