"""What a job does at each centre, with stand-ins of the programs that are there."""

import pytest

from cluster.sites import site_files

# Each writes its name, its words and what it would see of the environment.
RECORDER = """#!/bin/bash
echo "$(basename "$0")${OWNER:+ of $OWNER}: $*" >>"$HOME/calls"
env | grep -E '^(CUDA_VISIBLE_DEVICES|[A-Z]*_SOCKET_IFNAME|PYTHONPATH|SRUN_CPUS_PER_TASK)=' \\
    | sed 's/^/  /' >>"$HOME/calls"
"""
MODULE = """
module() { echo "module $*" >>"$HOME/calls"; export PYTHONPATH=/software/python; }
conda() { echo "conda $*" >>"$HOME/calls"; }
"""
SLURM = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2", "SLURM_NNODES": "1", "SLURM_CPUS_PER_TASK": "8"}
PBS = SLURM | {"SLURM_NNODES": "2", "SLURM_NTASKS": "8"}


@pytest.fixture
def centre(shell):
    """A node of some centre: its own programs first on PATH, and the course's environment."""
    for place in ("centre", "environment/bin"):
        (shell.home / place).mkdir(parents=True)
    for program in ("centre/srun", "centre/mpiexec", "centre/scontrol", "environment/bin/mpiexec"):
        owner = program.split("/")[0]
        (shell.home / program).write_text(RECORDER.replace("${OWNER:+ of $OWNER}", f" of {owner}"))
        (shell.home / program).chmod(0o755)
    shell.environment["PATH"] = f"{shell.home / 'centre'}:{shell.environment['PATH']}"
    (shell.home / "nodes").write_text("n1\nn2\n")
    shell.environment["PBS_NODEFILE"] = str(shell.home / "nodes")
    return shell


def calls(shell, site, words, environment=True, **variables):
    """What a job that sources the site file and does `words` calls."""
    shell.environment |= variables
    if environment:
        shell.environment["COURSE_ENVIRONMENT"] = str(shell.home / "environment")
    text = f"set -euo pipefail; {MODULE}\nsource {site_files.FOLDER}/{site}.sh; {words}"
    shell.run("bash", "-c", text)
    return (shell.home / "calls").read_text()


def test_juwels_shows_each_task_all_gpus_and_meets_on_infiniband(centre):
    said = calls(centre, "juwels", "launch_ranks 2 python train.py", **SLURM)
    assert "  CUDA_VISIBLE_DEVICES=0,1,2,3\n" in said
    assert "  NCCL_SOCKET_IFNAME=ib0\n" in said
    assert "  GLOO_SOCKET_IFNAME=ib0\n" in said


def test_a_choice_of_gpus_is_left_as_it_is(centre):
    words = "launch_ranks 2 python train.py"
    said = calls(centre, "juwels", words, **SLURM, CUDA_VISIBLE_DEVICES="2,3")
    assert "  CUDA_VISIBLE_DEVICES=2,3\n" in said


@pytest.mark.parametrize("site", ["juwels", "snellius", "polaris"])
def test_modules_do_not_shadow_the_courses_environment(centre, site):
    variables = PBS if site == "polaris" else SLURM
    said = calls(centre, site, "launch_ranks 2 python train.py", **variables)
    assert "PYTHONPATH" not in said
    assert "PyTorch" not in said
    assert "conda" not in said


def test_without_an_environment_the_centres_own_software_is_loaded(centre):
    said = calls(centre, "juwels", "launch_ranks 2 python", environment=False, **SLURM)
    assert "module load GCC OpenMPI Python PyTorch\n" in said
    assert "  PYTHONPATH=/software/python\n" in said


def test_polaris_starts_ranks_with_its_own_mpiexec(centre):
    said = calls(centre, "polaris", "launch_ranks 8 python train.py", **PBS)
    assert "mpiexec of centre: -n 8 --ppn 4 --depth=8 --cpu-bind depth python train.py" in said
    assert "mpiexec of environment" not in said


def test_torchrun_over_nodes_needs_no_srun_under_pbs(centre):
    said = calls(centre, "polaris", "LAUNCHER=torchrun launch python train.py", **PBS)
    assert "mpiexec of centre: -n 2 --ppn 1 --cpu-bind none torchrun --nnodes=2" in said
    assert "srun" not in said


def test_torchrun_over_nodes_takes_srun_under_slurm(centre):
    words = "hosts() { echo n1; }; LAUNCHER=torchrun launch python train.py"
    said = calls(centre, "snellius", words, **SLURM | {"SLURM_NNODES": "2"}, SLURM_JOB_NODELIST="n")
    assert "srun of centre: --ntasks-per-node=1 --ntasks=2 --kill-on-bad-exit=1 torchrun" in said


@pytest.mark.parametrize("image", ["", "docker:course"])
def test_perlmutter_starts_the_courses_open_mpi_through_pmix(centre, image):
    words = "launch_ranks 2 python train.py"
    said = calls(centre, "perlmutter", words, **SLURM, COURSE_IMAGE=image)
    assert "srun of centre: --mpi=pmix --ntasks=2" in said
