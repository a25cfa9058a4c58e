"""The doctor as a student's job on two nodes with two ranks each."""

import json

import pytest

pytestmark = pytest.mark.slurm


def doctor(student, words: str, launch: str = "") -> str:
    """Return what the doctor's job prints on 2 nodes with 2 ranks each."""
    edit = f"| sed '{launch}'" if launch else ""
    student.do(f"module load dl-course && cluster doctor --job {edit} > doctor.sbatch")
    shape = "--nodes=2 --ntasks=4 --ntasks-per-node=2"
    said = student.do(
        f"module load dl-course && cluster submit --site box {shape} doctor.sbatch {words}"
    )
    job = said.split()[-1]
    student.wait(job, seconds=120)
    assert student.do("ls -A").split() == ["doctor.sbatch", f"doctor_{job}.out"]
    output = student.read(f"doctor_{job}.out")
    student.do(f"rm doctor_{job}.out")
    return output


# The other probes are in test_box_first_day.py.
ASKED = ("python", "mpi", "between nodes", "allreduce", "horovod")


def test_one_report_for_two_nodes(student):
    output = doctor(student, " ".join(f"--only '{probe}'" for probe in ASKED))
    assert output.count("doctor: 4 ranks, started by srun, on 2 nodes (node0") == 1
    lines = [line for line in output.splitlines() if line[:6].strip() in ("ok", "look", "broken")]
    said = {line[7:21].strip(): line for line in lines}
    assert "2 nodes" in said["python"]
    assert "pmix fits" in said["mpi"]
    assert "127.0.66." in said["between nodes"]
    assert " ms " in said["clock"]
    assert "4 ranks in one MPI world, on 2 nodes" in said["launch"]
    assert "of one TCP connection" in said["allreduce"]
    assert "with TensorFlow, PyTorch, MPI, Gloo" in said["horovod"]
    assert not [line for line in lines if line.startswith("broken")]
    assert "\x1b" not in output


def test_the_wrong_plug_in_is_named_on_all_ranks(student):
    """With srun --mpi=pmi2 and Open MPI 5, four programs run alone."""
    only = "--only mpi --only allreduce --json"
    wrong = "s/^ *launch_ranks/export SLURM_MPI_TYPE=pmi2; srun --mpi=pmi2 -n/"
    output = doctor(student, only, wrong)
    report = json.loads(output[output.index("\n{") : output.rindex("}") + 1])
    found = [each for each in report["findings"] if each["probe"] == "launch"]
    assert {each["where"][0] for each in found} == {f"rank {rank}" for rank in range(4)}
    assert "srun started 4 ranks, but MPI sees 1" in found[0]["found"]
    (plug_in, _) = [each for each in report["findings"] if each["probe"] == "mpi"]
    assert plug_in["state"] == "broken"
    assert plug_in["advice"].startswith("srun --mpi=pmix")


def test_a_rank_that_hangs_does_not_stop_the_report(student):
    """Slurm ends all ranks when one rank in MPI is killed, but the report is printed before."""
    student.do(
        "mkdir -p trap/mpi4py && echo 'import time; time.sleep(300)' >trap/mpi4py/__init__.py"
    )
    student.write(
        "rank.sh",
        'if [ "$SLURM_PROCID" = 3 ]; then export PYTHONPATH=$PWD/trap; fi; exec "$@"\n',
    )
    job = student.submit(
        "--nodes=2 --ntasks=4 --ntasks-per-node=2 --output=out",
        "source /etc/profile; module load dl-course\n"
        "srun --mpi=pmix bash rank.sh cluster doctor --limit 8 --only cores --only allreduce",
    )
    assert student.wait(job, seconds=120)["state"] == "FAILED"
    output = student.read("out")
    assert "did not answer in 8 s" in output
    assert output.count("1 broken\n") == 1
