"""Real MPI ranks on the laptop site, started by the `launch` of the site file."""

import re

import pytest

from cluster.schedulers.laptop import processes
from cluster.schedulers.laptop.cores import whole_cores
from cluster.sites import site_files

pytestmark = pytest.mark.ranks

JOB = """set -euo pipefail
source "${COURSE_SITE:-$HOME/.dl-course/site.sh}"
facts
launch python -u program.py "$@"
"""
HELLO = """
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
cores = sorted(os.sched_getaffinity(0))
print(f"rank {world.rank} of {world.size} on {cores}, job {os.environ['SLURM_JOB_ID']},"
      f" {os.environ['OMP_NUM_THREADS']} thread")
"""
DIES = """
import os, signal, sys
from mpi4py import MPI
if MPI.COMM_WORLD.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
MPI.COMM_WORLD.barrier()
"""


def program(shell, text: str) -> str:
    (shell.folder / "program.py").write_text(text)
    return shell.write("job.sbatch", JOB, "--ntasks=2", "--time=2")


def test_two_ranks_make_one_world_on_a_core_each(shell):
    shell.wait(shell.submit(program(shell, HELLO)))
    output = shell.read("slurm-1.out")
    assert "site: laptop (laptop)\njob: 1 job.sbatch\n" in output
    assert "ranks: 2\n" in output
    assert "launch: 2 ranks in one MPI world\n" in output
    found = re.findall(r"rank (\d) of 2 on \[(.*)\], job 1, 1 thread", output)
    assert {rank for rank, _ in found} == {"0", "1"}
    if len(whole_cores()) >= 2:
        cores = [cores for _, cores in found]
        assert len(set(cores)) == 2
        assert all("," not in one for one in cores)


@pytest.mark.slow
def test_when_one_rank_dies_the_others_end_and_the_job_fails(shell):
    job = shell.submit(program(shell, DIES))
    shell.wait(job, ok=False)
    record = shell.record(job)
    assert record["State"] == "FAILED"
    assert record["ExitCode"] != "0:0"


@pytest.mark.slow
def test_a_cancelled_job_leaves_no_rank(shell):
    waits = "import time; print('up', flush=True); time.sleep(300)"
    job = shell.submit(program(shell, waits))
    shell.until(lambda: "up\nup\n" in shell.cluster("logs", job, ok=None).stdout)
    shell.word("scancel", job)
    shell.wait(job, ok=False)
    assert shell.record(job)["State"].startswith("CANCELLED")
    assert processes.of_job(shell.home / ".dl-course/laptop/jobs/1") == []


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["torchrun", "horovodrun"])
def test_other_launchers_start_as_many_ranks(shell, launcher):
    names = {"torchrun": "WORLD_SIZE LOCAL_RANK", "horovodrun": "HOROVOD_SIZE HOROVOD_RANK"}
    # Write each line at once: under `python -u`, print writes its parts separately, and the parts
    # of two ranks mix.
    words = f"' '.join(os.environ[name] for name in '{names[launcher]}'.split())"
    show = f"import os, sys; sys.stdout.write({words} + chr(10))"
    shell.environment["LAUNCHER"] = launcher
    shell.wait(shell.submit(program(shell, show)))
    output = shell.read("slurm-1.out")
    assert f"launcher: {launcher}\n" in output
    assert sorted(re.findall(r"2 [01]$", output, re.MULTILINE)) == ["2 0", "2 1"]


APART = 'for rank in $(seq 0 $(($1 - 1))); do {} SLURM_PROCID=$rank "${{@:2}}" || return 1; done'
STEP = "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=$1"


@pytest.mark.parametrize(
    ("variables", "text", "counts"), [(STEP, HELLO, "MPI"), ("", "print('ran')", "the launcher")]
)
def test_a_launcher_that_starts_programs_of_size_one_is_caught(shell, variables, text, counts):
    """srun does this when its MPI plug-in does not fit the program's MPI."""
    starts_apart(shell, variables)
    done = shell.cluster("submit", "--wait", "--error=err", program(shell, text), ok=False)
    assert "FAILED" in done.stderr
    assert f"2 ranks were asked for, but {counts} sees 1" in shell.read("err")
    assert "ran" not in shell.read("slurm-1.out").split("started: ")[1]


def test_an_mpi_that_does_not_fit_stops_no_program_without_mpi(shell):
    starts_apart(shell, STEP)
    shell.cluster("submit", "--wait", program(shell, "print('ran')"))
    assert shell.read("slurm-1.out").endswith("\nran\nran\n")


def starts_apart(shell, variables):
    """Choose a site whose ranks do not meet, although srun's variables may say that they do."""
    apart = shell.home / "apart.sh"
    laptop = f"source {site_files.FOLDER}/laptop.sh"
    # bash takes assignments from a variable only through env.
    apart.write_text(f"{laptop}\nlaunch_ranks() {{ {APART.format('env ' + variables)}; }}\n")
    shell.environment["COURSE_SITE"] = str(apart)
