"""The doctor on several real ranks: healthy ones, a hanging one, and launchers that do not fit."""

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.breadth import breadth

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/doctor.schema.json").read_text())
pytestmark = pytest.mark.ranks

QUICK = "cluster doctor --only cores --only allreduce"
HANGS = "import time\ntime.sleep(300)\n"


def ranks(shell, body: str) -> subprocess.CompletedProcess:
    """Run these lines in two processes that mpirun starts."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    words = ["mpirun", *root, "--oversubscribe", "--bind-to", "none", "-np", "2"]
    shell.environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
    return shell.run("timeout", "100", *words, "bash", "-c", body, ok=None)


def by_hand(shell, first: int, second: int, limit: int) -> str:
    """Start two processes like MPICH's mpirun, with its variables, which Open MPI ignores."""
    each = f"PMI_SIZE=2 {QUICK} --limit {limit}"
    return shell.run(
        "bash", "-c", f"PMI_RANK={first} {each} & PMI_RANK={second} {each}; wait", ok=None
    ).stdout


def left_over(shell) -> list[str]:
    return [path.name for path in shell.folder.glob(".doctor-*")]


def test_two_ranks_give_one_report(shell):
    shell.write("doctor.sbatch", shell.cluster("doctor", "--job").stdout)
    words = ["--only", "cores", "--only", "memory copy", "--only", "allreduce"]
    shell.wait(shell.submit("doctor.sbatch", *words), ok=None)
    output = shell.read("doctor_1.out")
    assert output.count("doctor: 2 ranks, started by mpirun, on ") == 1
    assert output.count("2 ranks in one MPI world, on 1 node\n") == 1
    assert output.count("2 ranks on 2 CPUs, each pinned to its own") == 1
    assert "% of copying memory" in output
    assert "\x1b" not in output
    assert left_over(shell) == []


@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "world"), [("torchrun", "Gloo"), ("horovodrun", "Horovod")])
def test_launchers_that_need_no_mpi(shell, launcher, world):
    shell.write("doctor.sbatch", shell.cluster("doctor", "--job").stdout)
    shell.environment["LAUNCHER"] = launcher
    shell.wait(shell.submit("doctor.sbatch", "--only", "allreduce"), ok=None)
    output = shell.read("doctor_1.out")
    assert f"doctor: 2 ranks, started by {launcher}, on " in output
    assert f"2 ranks in one {world} world, on 1 node\n" in output
    assert "for 16 MB" in output
    assert left_over(shell) == []


def test_a_rank_that_never_begins_is_named_and_the_report_comes(shell):
    hangs = f"[ $OMPI_COMM_WORLD_RANK = 0 ] || exec sleep 300; {QUICK} --limit 8"
    done = ranks(shell, hangs)
    assert done.returncode not in (0, 124)
    assert "broken ranks" in done.stdout
    assert "rank 1 of 2 did not answer" in done.stdout
    assert "1 broken" in done.stdout
    assert left_over(shell) == []


@pytest.mark.slow
def test_a_rank_that_hangs_in_mpi_is_ended_after_the_report(shell):
    trap = shell.home / "trap" / "mpi4py"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text(HANGS)
    body = f"[ $OMPI_COMM_WORLD_RANK = 0 ] || export PYTHONPATH={trap.parent}; {QUICK} --limit 8"
    done = ranks(shell, body)
    assert done.returncode not in (0, 124)
    report = done.stdout
    assert "broken allreduce      rank 0, rank 1 did not answer in 8 s" in report
    assert "1 broken" in report
    assert left_over(shell) == []


def test_a_folder_that_ranks_cannot_share_is_a_sentence(shell):
    done = ranks(shell, f"cd /proc; {QUICK}")
    assert done.returncode == 1
    assert "start the doctor in a folder that all nodes share" in done.stderr


@pytest.mark.slow
def test_copies_of_size_one_are_named(shell):
    said = by_hand(shell, 0, 1, 20)
    assert "broken launch" in said
    assert "mpiexec started 2 ranks, but MPI sees 1: 2 programs would each train alone" in said


@pytest.mark.slow
def test_two_that_call_themselves_rank_0_are_named(shell):
    assert "several processes are rank 0 of 2" in by_hand(shell, 0, 0, 4)


@pytest.mark.slow
def test_a_report_for_support_holds_both_ranks(shell):
    done = ranks(shell, f"{QUICK} --json --limit 60")
    report = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
    jsonschema.validate(report, SCHEMA)
    assert (report["ranks"], report["launcher"], len(report["nodes"])) == (2, "mpirun", 1)
    found = {each["probe"]: each for each in report["findings"]}
    assert found["launch"]["state"] == "ok"
    assert found["allreduce"]["facts"]["ranks"] == 2


TWO_GPUS = '#!/bin/bash\nfor n in 0 1; do echo "GPU $n: NVIDIA A100 (UUID: GPU-$n)"; done\n'
SUM = """
import sys
import torch
from cluster.doctor.position import Position
from cluster.doctor.probes import nccl
rank = int(sys.argv[1])
position = Position(rank=rank, size=2, host="a", hosts=("127.0.0.1", "127.0.0.1"))
if rank == 1 and len(sys.argv) > 2:
    torch.ones = torch.zeros
print(nccl.bandwidth(position, "gloo", torch.device("cpu")) > 0, nccl.local_number(position))
"""


@pytest.mark.slow
def test_ranks_that_cannot_have_a_gpu_each_are_named_before_nccl_hangs(shell):
    """The driver lists two GPUs, but no task sees any of them."""
    program = shell.home / "nvidia-smi"
    program.write_text(TWO_GPUS)
    program.chmod(0o755)
    shell.environment["PATH"] = f"{shell.home}:{shell.environment['PATH']}"
    said = ranks(shell, "cluster doctor --only nccl").stdout
    for number in range(2):
        assert f"rank {number} is number {number} on " in said
    assert "sees 0 GPUs: NCCL refuses two ranks on one" in said
    assert "let every task see all GPUs of its node" in said


@pytest.mark.slow
def test_where_there_are_no_gpus_nccl_is_not_spoken_of(shell):
    assert "nccl" not in ranks(shell, "cluster doctor --only nccl").stdout


@pytest.mark.parametrize(
    ("spoilt", "said"), breadth([("", "True 0\n"), ("spoilt", "gloo: 2 ones add up to 1")], quick=0)
)
def test_the_sum_of_two_ranks_is_timed_and_looked_at(shell, spoilt, said):
    """The function normally uses NCCL and a GPU. Here it runs over Gloo on the CPU."""
    (shell.folder / "sum.py").write_text(SUM)
    shell.environment |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(20000 + os.getpid() % 9000),
    }
    body = f"python sum.py 1 {spoilt} >/dev/null 2>&1 & python sum.py 0 {spoilt} 2>&1; wait"
    assert said in shell.run("timeout", "100", "bash", "-c", body, ok=None).stdout.replace(
        "\t", " "
    )
