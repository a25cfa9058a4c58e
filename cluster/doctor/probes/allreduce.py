"""Check whether the ranks form one MPI world, and how fast they exchange gradients."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position
from cluster.doctor.probes.worlds import world_of

GRADIENTS = 16 * 2**20  # bytes: four million parameters
ALONE = 2  # ranks that the doctor starts itself if it was not started on several


def allreduce(position: Position) -> Iterator[Diagnosis]:
    if position.size == 1:
        yield from with_own_ranks(position)
        return
    world = world_of(position.launcher)
    by = getattr(world, "kind", "MPI")
    if world.size != position.size:
        yield replace(size_one(position, world.size), probe="launch")
        return
    if world.rank != position.rank:
        sentence = f"{position.launcher} says rank {position.rank}, {by} says {world.rank}"
        advice = "the launcher and this MPI do not match: see the mpi line"
        yield replace(broken(sentence, advice), probe="launch")
        return
    if world.rank == 0:
        nodes = len(position.nodes)
        together = f"{world.size} ranks in one {by} world, on {nodes} node{'s' * (nodes > 1)}"
        yield replace(ok(together, launcher=position.launcher), probe="launch")
    numbers = measured(world)
    if world.rank == 0:
        yield ok(
            "{latency_us:.0f} µs for 8 bytes; {bus_gb_s:.2f} GB/s for 16 MB".format(**numbers),
            **numbers,
            ranks=world.size,
            nodes=len(position.nodes),
        )


def size_one(position: Position, seen: int) -> Diagnosis:
    return broken(
        f"{position.launcher} started {position.size} ranks, but MPI sees {seen}:"
        f" {position.size} programs would each train alone",
        "the launcher and this MPI do not match: see the mpi line, and launch_ranks in the"
        " site file",
    )


def measured(world) -> dict[str, float]:
    """Return the latency of an 8-byte allreduce, and the bandwidth per rank for 16 MB.

    A ring moves 2 (n-1)/n of the buffer through each rank's connection, so only that part counts.
    """
    import numpy as np

    def seconds(buffer, times: int) -> float:
        result = np.empty_like(buffer)
        taken = []
        for _ in range(times):
            world.Barrier()
            start = time.perf_counter()
            world.Allreduce(buffer, result)
            taken.append(time.perf_counter() - start)
        return float(np.median(taken))

    small = np.ones(1)
    seconds(small, 5)  # the first message opens the connections
    latency = seconds(small, 50)
    large = seconds(np.ones(GRADIENTS // 4, np.float32), 7)
    moved = 2 * (world.size - 1) / world.size * GRADIENTS
    return {"latency_us": latency * 1e6, "bus_gb_s": moved / large / 1e9}


# This is the doctor's own rank on this machine, not a rank of the job.
OWN = {
    "PRTE_MCA_ras": "^slurm",
    "PRTE_MCA_plm": "^slurm",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "^ofi",  # no fabric within one machine
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def with_own_ranks(position: Position) -> Iterator[Diagnosis]:
    """Start two ranks if there is only one, to see whether MPI works here at all."""
    if not shutil.which("mpirun"):
        yield look(
            "only one rank, and mpirun was not found",
            "start the doctor as a job: cluster doctor --job",
        )
        return
    program = [sys.executable, "-P", "-m", "cluster.doctor.probes.own_ranks"]
    clean = {name: v for name, v in os.environ.items() if not re.match("SLURM_|PMI_|PMIX_", name)}
    done = subprocess.run(
        ["mpirun", "-np", str(ALONE), *program],
        env=clean | OWN,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    numbers = dict(re.findall(r"(\w+)=([\d.]+)", done.stdout))
    if done.returncode or "size" not in numbers:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines()]
        said = next((line for line in lines if line.strip("- ")), f"exit code {done.returncode}")
        yield broken(f"mpirun -np {ALONE} failed here: {said}", "see the mpi line")
        return
    if int(numbers["size"]) != ALONE:
        alone = replace(position, size=ALONE, launcher="mpirun")
        yield replace(size_one(alone, int(numbers["size"])), probe="launch")
        return
    facts = {name: float(numbers[name]) for name in ("latency_us", "bus_gb_s")}
    words = (
        "between two ranks that the probe started: {latency_us:.0f} µs for 8 bytes; "
        "{bus_gb_s:.2f} GB/s for 16 MB"
    )
    yield ok(words.format(**facts), **facts, ranks=ALONE, nodes=1)
