"""The doctor on several real ranks: healthy ones, a hanging one, and launchers that do not fit."""

import json
import os
import subprocess

import pytest

pytestmark = pytest.mark.ranks

# The ranks' probes, with a time limit that a test can wait for.
LAUNCH = """
import sys
from dataclasses import replace
from cluster.doctor import all_probes, doctor
doctor.LAST_LINES = 2
probes = [replace(all_probes.BY_NAME[name], limit=8) for name in ("launch",)]
sys.exit("broken" in doctor.examine(probes))
"""


def ranks(shell, body: str) -> subprocess.CompletedProcess:
    """Run these lines in two processes that mpirun starts."""
    (shell.folder / "launch.py").write_text(LAUNCH)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    words = ["mpirun", *root, "--oversubscribe", "--bind-to", "none", "-np", "2"]
    shell.environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
    return shell.run("timeout", "100", *words, "bash", "-c", body, ok=None)


def by_hand(shell, first: int, second: int) -> str:
    """Start two processes like MPICH's mpirun, with its variables, which Open MPI ignores."""
    (shell.folder / "launch.py").write_text(LAUNCH)
    each = "PMI_SIZE=2 python launch.py"
    both = f"PMI_RANK={first} {each} & PMI_RANK={second} {each}; wait"
    return shell.run("bash", "-c", both, ok=None).stdout


def doctors_job(shell, *words: str) -> list[str]:
    shell.write("doctor.sbatch", shell.cluster("doctor", "--job").stdout)
    shell.wait(shell.submit("doctor.sbatch", *words))
    return shell.read("doctor_1.out").splitlines()


def test_the_doctors_job_reports_on_its_two_ranks(shell):
    lines = doctors_job(shell, "--only", "python", "--only", "launch")
    (title,) = [line for line in lines if line.startswith("doctor: 2 ranks")]
    assert title.startswith("doctor: 2 ranks, started by mpirun, on ")
    assert sum(line.startswith("ok     python") for line in lines) == 1
    assert sum(line.endswith("rank 0: 2 ranks in one MPI world") for line in lines) == 1


@pytest.mark.slow
def test_ranks_of_horovodrun_add_numbers(shell):
    """It prints the rank before each line. The doctor's other jobs start by mpirun or srun."""
    shell.environment["LAUNCHER"] = "horovodrun"
    lines = doctors_job(shell, "--json", "--only", "launch", "--only", "sum")
    found = [json.loads(line[line.index("{") :]) for line in lines if '{"probe"' in line]
    assert sorted((each["probe"], each["rank"], each["state"]) for each in found) == [
        (probe, rank, "ok") for probe in ("launch", "sum") for rank in (0, 1)
    ]
    assert {each["facts"]["backend"] for each in found if each["probe"] == "sum"} == {"gloo"}


@pytest.mark.slow
def test_a_rank_that_never_begins_and_the_other_says_so(shell):
    done = ranks(shell, "[ $OMPI_COMM_WORLD_RANK = 0 ] || exec sleep 300; python launch.py")
    assert done.returncode not in (0, 124)
    assert "rank 0: did not answer in 8 s" in done.stdout
    assert "0 ok, 0 to look at, 1 broken" in done.stdout


def test_copies_of_size_one_are_named(shell):
    said = by_hand(shell, 0, 1)
    for rank in (0, 1):
        assert f"rank {rank}: mpiexec started 2 ranks, but MPI sees 1: 2 programs" in said


@pytest.mark.slow
def test_ranks_that_cannot_have_a_gpu_each_are_named_before_nccl_hangs(shell):
    """The driver lists two GPUs, but no task sees any of them."""
    program = shell.home / "nvidia-smi"
    program.write_text(
        '#!/bin/bash\nfor n in 0 1; do echo "GPU $n: NVIDIA A100 (UUID: G-$n)"; done\n'
    )
    program.chmod(0o755)
    shell.environment["PATH"] = f"{shell.home}:{shell.environment['PATH']}"
    said = ranks(shell, "MASTER_ADDR=127.0.0.1 cluster doctor --only sum").stdout
    for number in range(2):
        assert f"this rank is number {number} of its node, counted from 0, and sees 0 GPUs" in said
