"""Slurm's notation: columns of `sacct`, and lists of node names.

Training programs read node lists too, so this module must be quick to import.
"""

import re
from itertools import product

# What the grader reads of sacct, for --format.
SACCT_FORMAT = "jobid,jobidraw,user,state,start,end,ncpus,alloctres,nodelist,totalcpu"


def node_names(nodelist: str) -> list[str]:
    """Return all node names in a list in Slurm's short form: a[1-2,05],b -> a1 a2 a05 b."""
    names: list[str] = []
    for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodelist):
        parts = re.findall(r"\[[^\]]*\]|[^\[]+", entry)
        choices = [_numbers(part[1:-1]) if part[0] == "[" else [part] for part in parts]
        names += map("".join, product(*choices))
    return names


def _numbers(text: str) -> list[str]:
    """Return the numbers in brackets, padded with zeros to the length of the first of a range."""
    numbers: list[str] = []
    for each in filter(None, text.split(",")):
        first, _, last = each.partition("-")
        span = range(int(first), int(last) + 1) if last else ()
        numbers += [f"{number:0{len(first)}d}" for number in span] if last else [first]
    return numbers or [""]
