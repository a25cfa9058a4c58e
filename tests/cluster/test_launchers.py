"""Test how the launcher of a process is recognised, by the variables that launchers set."""

import pytest

from cluster.launchers import LaunchedAs, launched

STEP = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"}
MPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
TORCH = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}
PALS = {"PALS_RANKID": "1", "PALS_LOCAL_RANKID": "1", "PALS_SIZE": "2"}
HOROVOD = {"HOROVOD_RANK": "2", "HOROVOD_LOCAL_RANK": "0", "HOROVOD_SIZE": "3"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None),  # a batch script: no ranks yet
        (STEP | {"SLURM_STEP_ID": "4294967290"}, None),  # a shell inside salloc
        ({"WORLD_SIZE": "nonsense"}, None),
        (STEP | {"SLURM_LOCALID": "1"}, LaunchedAs("srun", 3, 1, 4)),
        (MPI, LaunchedAs("mpirun", 1, 1, 2)),
        (STEP | MPI, LaunchedAs("mpirun", 1, 1, 2)),  # srun starts Open MPI's daemons
        (MPI | HOROVOD, LaunchedAs("horovodrun", 2, 0, 3)),
        (TORCH, LaunchedAs("torchrun", 5, 1, 8)),
        (STEP | TORCH | {"TORCHELASTIC_RUN_ID": "7"}, LaunchedAs("torchrun", 5, 1, 8)),
        (STEP | TORCH, LaunchedAs("srun", 3, 0, 4)),  # a job file exports torch's variables
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, LaunchedAs("mpiexec", 1, 0, 2)),
        (PALS, LaunchedAs("mpiexec", 1, 1, 2)),
        (STEP | {"PMI_RANK": "3", "PMI_SIZE": "4"}, LaunchedAs("srun", 3, 0, 4)),  # --mpi=pmi2
        (
            STEP | {"PMI_RANK": "5", "PMI_SIZE": "8"},
            LaunchedAs("mpiexec", 5, 0, 8),
        ),  # by way of srun
    ],
)
def test_the_innermost_launcher_counts(environ, expected):
    assert launched(environ) == expected


def test_the_import_is_light(shell):
    heavy = "click numpy psutil autograder lessons"
    program = f"import sys, cluster.launchers; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
    assert shell.run("python", "-c", program).stdout == "set()\n"
