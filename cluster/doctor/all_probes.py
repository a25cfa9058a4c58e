"""List the doctor's probes in the table's order. To add one, write a function and list it here."""

from dataclasses import dataclass, replace

# Which ranks run a probe, and when.
NODE = "once per node, several probes at the same time"
MEASURE = "once per node, one probe at a time, because they measure times"
NODES = "one process of each node, together"
RANKS = "all ranks, together"


@dataclass(frozen=True)
class Probe:
    name: str
    function: str  # module:function, below cluster.doctor.probes
    limit: float  # seconds
    advice: str  # advice if the probe hangs or ends with an error
    kind: str = NODE
    alike: bool = False  # the result should be the same on all nodes


FILES = "a file system hangs: run ls on it by hand, and tell the site's support"
IMPORTS = (
    "a cold file system can be slow: run the doctor again; if it is still slow, tell the "
    "site's support"
)
SLURM = "the batch system itself may be down: wait, then try its command by hand"

PROBES = (
    Probe("site", "software:site_file", 10, FILES, alike=True),
    Probe("scheduler", "software:batch_system", 10, SLURM),
    Probe("python", "software:python", 10, FILES, alike=True),
    Probe("machine", "machine:machine", 10, FILES, alike=True),
    Probe("compiler", "software:compiler", 20, FILES),
    Probe("jupyter kernel", "software:jupyter_kernel", 20, FILES),
    Probe("mpi", "mpi_fit:mpi", 20, "try by hand: mpirun --version; srun --mpi=list", alike=True),
    Probe("torch", "frameworks:torch", 90, IMPORTS, alike=True),
    Probe("tensorflow", "frameworks:tensorflow", 90, IMPORTS, alike=True),
    Probe("horovod", "frameworks:horovod", 90, IMPORTS, alike=True),
    Probe(
        "gpus",
        "gpus:gpus",
        10,
        "a GPU or its driver hangs: ask for another node, and report this one",
    ),
    Probe(
        "network",
        "network:interfaces",
        10,
        "host names are not resolved: try getent hosts $(hostname)",
    ),
    Probe("cores", "machine:cores", 10, FILES),
    Probe("memory", "machine:memory", 10, FILES),
    Probe("data", "storage:data", 20, FILES),
    Probe("disk", "storage:disk", 10, FILES),
    Probe("scratch", "storage:scratch", 30, FILES, MEASURE),
    Probe("memory copy", "speed:memory_copy", 20, "the node is overloaded: uptime", MEASURE),
    Probe("processes", "speed:processes", 30, "the node is overloaded: uptime", MEASURE),
    Probe(
        "between nodes",
        "meeting:meet",
        30,
        "a firewall or the wrong interface: set GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME in the"
        " site file",
        NODES,
    ),
    Probe(
        "allreduce",
        "allreduce:allreduce",
        60,
        "ranks wait for each other: check the network, and that launcher and MPI match",
        RANKS,
    ),
    Probe(
        "nccl",
        "nccl:nccl",
        90,
        "set NCCL_DEBUG=INFO to see what it tries; use one GPU per rank, and set "
        "NCCL_SOCKET_IFNAME in the site file",
        RANKS,
    ),
)
BY_NAME = {probe.name: probe for probe in PROBES}
HELLO = 60.0  # seconds within which all ranks have to start


def chosen(cap: float, only: tuple[str, ...]) -> list[Probe]:
    """Return the probes to run, with no time limit above `cap`."""
    return [
        replace(probe, limit=min(probe.limit, cap))
        for probe in PROBES
        if not only or probe.name in only
    ]


def of_kind(some: list[Probe], *kinds: str) -> list[Probe]:
    return [probe for probe in some if probe.kind in kinds]


def budget(some: list[Probe], *kinds: str) -> float:
    """Return the longest time in seconds that these probes can take, even if some hang."""
    return 10 + sum(probe.limit + 2 for probe in of_kind(some, *kinds))
