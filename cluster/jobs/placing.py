"""Choose a job's options from its number of ranks: nodes, GPUs and time."""

import math

from cluster.job_file import jobfile
from cluster.schedulers.known import scheduler_of
from cluster.sites.site_files import Site

# The time limit of a job that requests GPUs by hand, at least three times what its longest run is
# expected to take on A100s: 8 to 9 minutes in lesson 03's job_compare and in the job_nodes of 07 to
# 09 on one GPU, 6 to 8 in 12's job_study, 5 to 8 in 11's job_speed. (Computed: FLOP divided by half
# of the data sheet's rate, and a minute for the start.) On an H100, TensorFlow 2.21 compiles its
# kernels first, for up to half of this.
MINUTES = 30


def up_to(most: int) -> list[int]:
    """Return 1, 2, 4 … up to and including the largest number."""
    return [2**n for n in range(most.bit_length()) if 2**n < most] + [most]


def placed(ranks: int, site: Site, gpus: str = "", minutes: int = MINUTES) -> dict[str, str]:
    """Return sbatch's options for this many ranks, on as few nodes as have a GPU for each rank.

    Where possible, every node gets the same number of ranks. By default Slurm fills the cores of
    the first node, which may then have more ranks than GPUs. gpus: "gres=gpu:{n}" requests n per
    node, and then `minutes` is the time limit, or the site's longest. Without it, the job file's
    limit is kept.
    """
    one_node = scheduler_of(site).RUNS_HERE
    room = 0 if one_node else site.number("SITE_GPUS_PER_NODE")
    nodes = math.ceil(ranks / room) if room else 1
    asked = {"ntasks": str(ranks)} | ({"nodes": str(nodes)} if room else {})
    if nodes > 1 and ranks % nodes == 0:
        asked["ntasks-per-node"] = str(ranks // nodes)
    name, _, value = gpus.format(n=math.ceil(ranks / nodes)).partition("=")
    longest = jobfile.seconds(site.settings.get("SITE_MAX_TIME") or "UNLIMITED")
    limit = jobfile.clock(min(60 * minutes, longest or 60 * minutes))
    return asked | ({name: value, "time": limit} if name else {})


def out_of_one_node(site: Site) -> int:
    """Return the most ranks for a study: enough for at least three sizes and for two nodes.

    On this machine, where there is no second node, return the number of its GPUs.
    """
    room = site.number("SITE_GPUS_PER_NODE") or 4
    return max(2, room) if scheduler_of(site).RUNS_HERE else max(4, 2 * room)
