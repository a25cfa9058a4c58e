"""Print what each rank gets from DataDistributor, case by case, as one JSON object.

    mpirun -np N python distribution_cases.py FOLDER

A case's result is a list with each rank's items, or with what each rank raised.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from lessons.toolkit.ranks import DataDistributionError, DataDistributor

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()


class SizedNotIterable:
    def __len__(self):
        return 100


class Items:
    """A list that is only sized and iterable, without index and order."""

    def __iter__(self):
        return iter("abcdefghij")

    def __len__(self):
        return 10


def quits():
    raise SystemExit(7)


LOADERS = {
    "range": lambda: range(10),
    "tuple": lambda: tuple("abcdefghij"),
    "dict": lambda: dict.fromkeys(range(10)),
    "array": lambda: np.arange(20).reshape(10, 2),
    "own class": Items,
    "set": lambda: {f"file{n}" for n in range(10)},
    "missing folder": lambda: os.listdir("/no/such/folder"),
    "not iterable": SizedNotIterable,
    "empty": list,
    "too few": lambda: list(range(SIZE - 1)),
    "cannot be packed": lambda: [lambda: 0] * 10,
    "quits": quits,
}


def outcome(function, *args):
    try:
        mine = [np.asarray(item).tolist() for item in function(*args)]
    except DataDistributionError as error:
        mine = f"DataDistributionError: {error}"
    except SystemExit as error:
        mine = f"SystemExit: {error}"
    return COMM.gather(mine)


results = {}
for name, load in LOADERS.items():
    results[name] = outcome(DataDistributor(COMM)(load))
    results[f"{name}, shuffled"] = outcome(DataDistributor(COMM)(load, shuffle=True))

called = []
distributor = DataDistributor(COMM, shuffle=True, seed=5)
seeded = distributor(lambda: called.append(RANK) or range(12))
results["seeded"] = [outcome(seeded) for _ in range(3)]
results["seeded set"] = outcome(DataDistributor(COMM, shuffle=True, seed=5)(LOADERS["set"]))
results["who called"] = COMM.gather(len(called))

listing = DataDistributor(COMM, shutdown_on_error=True)(os.listdir)
results["files"] = outcome(listing, sys.argv[1])
results["name"] = listing.__name__

for equal in ("pad", "drop", None):
    share = DataDistributor(COMM, equal=equal)(range)
    results[f"equal {equal}"] = {n: outcome(share, n) for n in range(SIZE, 25)}

if RANK == 0:
    Path(sys.argv[2]).write_text(json.dumps(results))
