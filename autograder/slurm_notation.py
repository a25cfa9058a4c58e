"""Slurm's notation: the columns for `sacct`, and lists of node names.

Training programs read node lists too, so this module must be quick to import.
"""

import re
from itertools import islice, product

# JobIDRaw is the number that an array task itself sees, NTasks that of a step's tasks. TotalCPU and
# MaxRSS say how much the job computed: its total CPU time, and each step's largest process.
SACCT_COLUMNS = (
    *("JobID", "User", "Account", "JobName", "Partition", "State", "ExitCode", "DerivedExitCode"),
    *("Submit", "Start", "End", "ElapsedRaw", "TimelimitRaw", "NNodes", "NCPUS", "AllocTRES"),
    *("NodeList", "SubmitLine", "JobIDRaw", "NTasks", "TotalCPU", "MaxRSS"),
)
# What the grader reads, for --format.
SACCT_FORMAT = "jobid,jobidraw,user,state,start,end,ncpus,alloctres,nodelist,totalcpu"

MOST_NODES = 100_000  # a longer list must be damaged


def node_names(nodelist: str) -> list[str]:
    """Return all node names in a list in Slurm's short form: a[1-2,05],b -> a1 a2 a05 b."""
    names: list[str] = []
    for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodelist):
        parts = re.findall(r"\[[^\]]*\]|[^\[]+", entry)
        choices = [_numbers(part[1:-1]) if part[0] == "[" else [part] for part in parts]
        names += islice(map("".join, product(*choices)), MOST_NODES)
    return names[:MOST_NODES]


def _numbers(text: str) -> list[str]:
    """Return the numbers in brackets, padded with zeros to the length of the first of a range."""
    numbers: list[str] = []
    for each in filter(None, text.split(",")):
        first, _, last = each.partition("-")
        span = range(int(first), int(last) + 1)[:MOST_NODES] if last else ()
        numbers += [f"{number:0{len(first)}d}" for number in span] if last else [first]
    return numbers[:MOST_NODES] or [""]
