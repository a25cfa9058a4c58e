"""Slurm's notation: the columns for `sacct`, and lists of node names.

Training programs read node lists too, so this module must be quick to import.
"""

import re
from collections.abc import Iterator
from itertools import islice, product

SACCT_COLUMNS = (
    *("JobID", "User", "Account", "JobName", "Partition", "State", "ExitCode", "DerivedExitCode"),
    *("Submit", "Start", "End", "ElapsedRaw", "TimelimitRaw", "NNodes", "NCPUS", "AllocTRES"),
    *("NodeList", "SubmitLine"),
    # JobIDRaw is the number that an array task itself sees. NTasks is the number of a step's tasks.
    *("JobIDRaw", "NTasks"),
    # How much the job computed: its total CPU time, and each step's largest process.
    *("TotalCPU", "MaxRSS"),
)
# What the grader reads, for --format.
SACCT_FORMAT = "jobid,jobidraw,user,state,start,end,ncpus,alloctres,nodelist,totalcpu"

MOST_NODES = 100_000  # a longer list must be damaged


def node_names(nodelist: str) -> list[str]:
    """Return all node names in a list in Slurm's short form: a[1-2,05],b -> a1 a2 a05 b."""
    names = (
        "".join(parts)
        for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodelist)
        for parts in product(*map(_choices, re.findall(r"\[[^\]]*\]|[^\[]+", entry)))
    )
    return list(islice(names, MOST_NODES))


def _choices(part: str) -> list[str]:
    """Return the alternatives for part of a name: itself, or each number inside its brackets."""
    if not part.startswith("["):
        return [part]
    numbers = (number for each in part[1:-1].split(",") if each for number in _span(each))
    return list(islice(numbers, MOST_NODES)) or [""]


def _span(text: str) -> Iterator[str]:
    """Yield the numbers of a range: 9-11 becomes 9, 10, 11.

    The numbers are padded with zeros to the length of the first one.
    """
    first, _, last = text.partition("-")
    if not last:
        yield first
        return
    for number in range(int(first), int(last) + 1):
        yield f"{number:0{len(first)}d}"
