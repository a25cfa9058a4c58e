"""How many ranks a study has, and on how many nodes each of its jobs runs."""

import math

from cluster.sites.site_files import Site


def up_to(most: int) -> list[int]:
    """1, 2, 4 … and the largest."""
    return [2**n for n in range(most.bit_length()) if 2**n < most] + [most]


def placed(ranks: int, site: Site, gpus: str = "") -> dict[str, str]:
    """sbatch's options for so many ranks, on as few nodes as have a GPU for each.

    As many on each node, where that is possible: left alone, Slurm fills the cores of the first
    node, and more ranks than GPUs may meet there. gpus: "gres=gpu:{n}" asks for n on each node.
    """
    room = int(site.settings.get("SITE_GPUS_PER_NODE") or 0)
    nodes = math.ceil(ranks / room) if room else 1
    asked = {"ntasks": str(ranks)} | ({"nodes": str(nodes)} if room else {})
    if nodes > 1 and ranks % nodes == 0:
        asked["ntasks-per-node"] = str(ranks // nodes)
    name, _, value = gpus.format(n=math.ceil(ranks / nodes)).partition("=")
    return asked | ({name: value} if name else {})


def out_of_one_node(site: Site) -> int:
    """Ranks of a study of three sizes or more, the largest on two nodes or more."""
    return max(4, 2 * int(site.settings.get("SITE_GPUS_PER_NODE") or 4))
