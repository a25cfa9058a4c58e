"""List the doctor's probes in the order of its lines. To add one, write a function and list it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    name: str
    function: str  # module:function, below cluster.doctor.probes
    limit: float  # seconds
    advice: str  # advice if the probe hangs or ends with an error
    all_ranks: bool = False  # run by all ranks together, instead of one process per node


FILES = "a file system hangs: run ls on it by hand, and tell the site's support"
IMPORTS = (
    "a cold file system can be slow: run the doctor again; if it is still slow, tell the "
    "site's support"
)
INTERFACE = (
    "ranks cannot reach each other: set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME in the site file"
)

PROBES = (
    Probe("site", "software:site_file", 60, "the batch system or a module hangs: try it by hand"),
    Probe("python", "software:python", 10, FILES),
    Probe("mpi", "mpi_fit:mpi", 20, "try by hand: mpirun --version; srun --mpi=list"),
    Probe("torch", "frameworks:torch", 90, IMPORTS),
    Probe("tensorflow", "frameworks:tensorflow", 90, IMPORTS),
    Probe("horovod", "frameworks:horovod", 90, IMPORTS),
    Probe("gpus", "gpus:gpus", 10, "a GPU or its driver hangs: report this node, use another"),
    Probe("network", "network:interfaces", 10, "host names are not resolved: getent hosts NODE"),
    Probe("data", "storage:data", 20, FILES),
    # Long limits, because the ranks wait here for those that still look at their nodes.
    Probe("launch", "ranks:launch", 120, "a rank did not start, or see mpi", all_ranks=True),
    Probe("sum", "ranks:sum_up", 120, INTERFACE, all_ranks=True),
)
BY_NAME = {probe.name: probe for probe in PROBES}
