"""Typical work of a student on a supercomputer, done on the box with Slurm's own commands."""

import time
from datetime import datetime

import pytest

from autograder.evidence.accounting import read_accounting

pytestmark = pytest.mark.slurm

IN_THE_COURSE = """\
source /etc/profile
module load dl-course/1.0
export PMIX_MCA_psec=native OMP_NUM_THREADS=1
"""
MPI_PROGRAM = """\
import socket
from mpi4py import MPI
world = MPI.COMM_WORLD
total = world.allreduce(world.rank + 1)
print(f"rank={world.rank} size={world.size} host={socket.gethostname()} total={total}", flush=True)
"""


def said(output: str) -> list[dict[str, str]]:
    """Return the `name=value` pairs of the lines that ranks printed, sorted by rank."""
    lines = [line.split() for line in output.splitlines() if line.startswith("rank=")]
    ranks = [dict(word.split("=") for word in line) for line in lines]
    return sorted(ranks, key=lambda rank: int(rank["rank"]))


@pytest.fixture(autouse=True)
def first_of_all(overtime):
    """Start the job with the time limit first, so that other tests run while it waits."""


def test_mpi_across_nodes(student):
    student.write("ranks.py", MPI_PROGRAM)
    job = student.submit(
        "--nodes=2 --ntasks-per-node=4 --output=out --error=err",
        IN_THE_COURSE + "srun --mpi=pmix --kill-on-bad-exit=1 python ranks.py",
    )
    assert student.wait(job)["state"] == "COMPLETED", student.read("err")
    ranks = said(student.read("out"))
    assert [rank["rank"] for rank in ranks] == [str(number) for number in range(8)]
    assert {rank["size"] for rank in ranks} == {"8"}
    assert {rank["total"] for rank in ranks} == {"36"}
    assert len({rank["host"] for rank in ranks[:4]}) == 1
    assert {rank["host"] for rank in ranks[:4]}.isdisjoint(rank["host"] for rank in ranks[4:])
    assert student.read("err") == ""


def test_one_failing_rank_ends_the_others(student):
    job = student.submit(
        "--nodes=2 --ntasks-per-node=2",
        "srun --kill-on-bad-exit=1 bash -c 'if [ $SLURM_PROCID = 3 ]; then exit 7; fi; sleep 200'",
    )
    account = student.wait(job)
    assert account["state"] == "FAILED"
    assert account["exitcode"] in ("7:0", "15:0")  # of the rank, or of the ranks that were killed
    assert int(account["elapsedraw"]) < 60


def test_the_autograder_reads_the_accounting(box, student, tmp_path):
    job = student.submit("--nodes=2 --ntasks=2 --gres=gpu:1 --job-name=graded", "srun hostname")
    student.wait(job)
    dump = tmp_path / "accounting.txt"
    for _ in range(50):  # a record is complete a few seconds after its job
        dump.write_text(box("accounting").stdout)
        if f"\n{job}|" in dump.read_text():
            break
        time.sleep(0.2)
    assert dump.read_text().startswith("JobID|User|Account|JobName|Partition|State|ExitCode|")
    graded = read_accounting(dump)[job]
    assert (graded.user, graded.state) == ("student1", "COMPLETED")
    assert (graded.gpus, len(graded.hosts)) == (2, 2)
    assert graded.start is not None
    assert abs(graded.start - datetime.now().timestamp()) < 300
