"""Test what a program reads from the environment variables of different launchers."""

from collections.abc import Callable, Mapping

from lessons.toolkit.probes.refusal import tell

OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "5",
    "OMPI_COMM_WORLD_SIZE": "8",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
}
SLURM = {"SLURM_PROCID": "6", "SLURM_STEP_NUM_TASKS": "8", "SLURM_LOCALID": "2"}
# `mpirun` inside `sbatch`: Slurm's names are those of the job's script, the same in all ranks.
IN_A_JOB = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
# Ranks of a job on two nodes with four tasks each -> its rank, size and local rank.
ENVIRONMENTS: tuple[tuple[Mapping[str, str], tuple[int, int, int]], ...] = (
    (OPEN_MPI, (5, 8, 1)),
    (IN_A_JOB | OPEN_MPI, (5, 8, 1)),
    (SLURM, (6, 8, 2)),
    ({"PMI_RANK": "7", "PMI_SIZE": "8", "PMI_LOCAL_RANK": "3"}, (7, 8, 3)),
    ({"HOME": "/home/you"}, (0, 1, 0)),
)


def facts_wrong(facts: Callable[[Mapping[str, str]], object]) -> int:
    """Count the test environments in which `rank`, `size` or `local_rank` is wrong."""
    return sum(
        answer(facts, environ) != dict(zip(("rank", "size", "local_rank"), right, strict=True))
        for environ, right in ENVIRONMENTS
    )


def answer(facts: Callable[[Mapping[str, str]], object], environ: Mapping[str, str]) -> object:
    try:
        return facts(dict(environ))
    except Exception as raised:
        tell("facts", raised)
        return None
