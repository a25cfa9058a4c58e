"""Check packs (4.1), and the order in which they are read (4.2)."""

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    close,
    exercise,
    shown,
)

Function = Callable[..., Any]
ANEW = "A second .tofile(path) to the same path overwrites the file."


@exercise("4.1")
def check_4_1(write_packs: Function) -> str:
    """All packs together contain all records in order, and their sizes differ by at most 1."""
    width = 11
    for count, packs in ((103, 8), (40, 13), (7, 7)):
        records = np.random.default_rng(count).integers(0, 256, (count, width)).astype(np.uint8)
        with TemporaryDirectory() as folder:
            write_packs(records.copy(), Path(folder), packs)
            names = sorted(path.name for path in Path(folder).iterdir())
            sizes = [(Path(folder) / name).stat().st_size for name in names]
            together = b"".join((Path(folder) / name).read_bytes() for name in names)
        what = f"{count} records of {width} bytes in {packs} packs"
        if len(names) != packs:
            advice = "`packs` is the number of files, not the number of records in a file."
            if len(names) < packs:
                advice = f"Each pack needs its own path, with its number in it. {ANEW}"
            if not names:
                advice = "Nothing was written. Is `folder` part of the path?"
            raise CheckFailed(f"{what}: {packs} files", f"{len(names)} files", advice)
        if min(sizes) < count // packs * width and sum(sizes) < records.size:
            raise CheckFailed(
                f"{what}: {count // packs} or more in each",
                f"{min(sizes) / width:g} in one",
                f"{ANEW} Write all rows of a pack in one call.",
            )
        if sum(sizes) != records.size:
            times = sum(sizes) / records.size
            advice = "The last records, which do not fill a pack, are missing."
            if times > 1:
                advice = (
                    "Each byte became an 8-byte number: write uint8."
                    if close(times, 8)
                    else "Write only the records: row.tofile(path) writes no header, but np.save "
                    "does."
                )
            raise CheckFailed(f"{what}: {records.size} bytes in all", f"{sum(sizes)}", advice)
        counts = [size / width for size in sizes]
        if max(counts) - min(counts) > 1:
            raise CheckFailed(
                f"{what}: sizes that differ by at most 1 record",
                f"{min(counts):g} to {max(counts):g} records",
                "np.array_split makes parts of equal size, to within one.",
            )
        if together != records.tobytes():
            advice = (
                "A pack contains neighbouring records, in their order: np.array_split(records, "
                "packs)."
            )
            if packs > 10 and any("_10." in name and "_2." in "".join(names) for name in names):
                advice = "Sorted by name, pack_10 comes before pack_2: write 0010 and 0002."
            raise CheckFailed(
                f"{what}: read in the order of their names, the same bytes", "others", advice
            )
    return "103 records in 8 packs: 12 or 13 in each, and none is lost."


@exercise("4.2")
def check_4_2(order: Function) -> str:
    """Each epoch reads every pack once, in an order that no earlier epoch had."""
    names = [f"pack_{n:04d}.bin" for n in range(20)]
    orders: list[list[str]] = []
    for epoch in range(6):
        given = list(names)
        found = as_names(order(given, epoch, 3), epoch)
        if given != names:
            raise CheckFailed(
                "the caller's list does not change",
                "it was shuffled in place",
                "`.shuffle` changes its argument: return `.permutation(names)`.",
            )
        counts = Counter(found)
        if lost := sorted(set(names) - set(counts)):
            twice = sum(count > 1 for count in counts.values())
            raise CheckFailed(
                f"epoch {epoch}: each of 20 packs once",
                f"{len(lost)} never, {twice} several times",
                "`choice` draws the same pack twice: `permutation` does not.",
            )
        if found != as_names(order(list(names), epoch, 3), epoch):
            raise CheckFailed(
                "the same order whenever epoch and seed are the same",
                "another at each call",
                "A generator without a seed gives different numbers each time: "
                "default_rng([seed, epoch]).",
            )
        orders.append(found)
    check_they_differ(orders, names)
    if orders[0] == as_names(order(list(names), 0, 4), 0):
        raise CheckFailed(
            "another order for another seed",
            "the same",
            "Use both seed and epoch: default_rng([seed, …]).",
        )
    return "Every epoch reads each pack once, in a new, reproducible order."


def check_they_differ(orders: list[list[str]], names: list[str]) -> None:
    if all(found == names for found in orders):
        raise CheckFailed(
            "6 epochs: 6 different orders",
            "the names in their original order",
            "`.permutation(names)` does not change the list: return its result.",
        )
    if orders[0] == orders[1] or len({tuple(found) for found in orders}) < len(orders):
        raise CheckFailed(
            "6 epochs: 6 different orders",
            f"{len({tuple(found) for found in orders})}",
            "All epochs are the same: put the epoch into the seed, default_rng([seed, epoch]).",
        )
    neighbours = [
        sum(orders[0].index(b) - orders[0].index(a) == 1 for a, b in itertools.pairwise(found))
        for found in orders[1:]
    ]
    if min(neighbours) > 8:
        raise CheckFailed(
            "a random order in each epoch",
            f"{min(neighbours)} of 19 packs follow the same pack as in epoch 0",
            "Rotating the list keeps its order: draw a permutation.",
        )


def as_names(value: Any, epoch: int) -> list[str]:
    if value is None:
        advice = "Is there a `return` in front of it? (`.shuffle` changes a list and returns None.)"
        raise CheckFailed(f"epoch {epoch}: a list of names", "None", advice)
    try:
        found = [str(name) for name in value]
    except TypeError:
        found = []
    if not found or not found[0].startswith("pack_"):
        raise CheckFailed(
            f"epoch {epoch}: a list of names",
            shown(found[:4]),
            "Return the names, not their numbers.",
        )
    return found
