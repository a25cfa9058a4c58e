"""Choose the numbers of ranks of a study, and the number of nodes for each of its jobs."""

import math

from cluster.sites.site_files import Site


def up_to(most: int) -> list[int]:
    """Return 1, 2, 4 … up to and including the largest number."""
    return [2**n for n in range(most.bit_length()) if 2**n < most] + [most]


def placed(ranks: int, site: Site, gpus: str = "") -> dict[str, str]:
    """Return sbatch's options for this many ranks, on as few nodes as have a GPU for each rank.

    Where possible, every node gets the same number of ranks. By default Slurm fills the cores of
    the first node, which may then have more ranks than GPUs. gpus: "gres=gpu:{n}" requests n per
    node.
    """
    room = int(site.settings.get("SITE_GPUS_PER_NODE") or 0)
    nodes = math.ceil(ranks / room) if room else 1
    asked = {"ntasks": str(ranks)} | ({"nodes": str(nodes)} if room else {})
    if nodes > 1 and ranks % nodes == 0:
        asked["ntasks-per-node"] = str(ranks // nodes)
    name, _, value = gpus.format(n=math.ceil(ranks / nodes)).partition("=")
    return asked | ({name: value} if name else {})


def out_of_one_node(site: Site) -> int:
    """Return the most ranks for a study: enough for at least three sizes and for two nodes."""
    return max(4, 2 * int(site.settings.get("SITE_GPUS_PER_NODE") or 4))
