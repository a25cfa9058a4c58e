"""Check packs (4.1), and the order in which they are read (4.2)."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

ANEW = "A second .tofile(path) to the same path overwrites the file."


@exercise("4.1")
def check_4_1(write_packs: Function) -> str:
    """All packs together contain all records in order, and their sizes differ by at most 1."""
    width = 11
    for count, packs in ((103, 8), (40, 13), (7, 7)):
        records = np.random.default_rng(count).integers(0, 256, (count, width)).astype(np.uint8)
        with TemporaryDirectory() as folder:
            write_packs(records.copy(), Path(folder), packs)
            files = sorted(Path(folder).iterdir())
            parts = [file.read_bytes() for file in files]
        what = f"{count} records of {width} bytes in {packs} packs"
        if len(files) != packs:
            advice = "`packs` is the number of files, not the number of records in a file."
            if len(files) < packs:
                advice = f"Each pack needs its own path in `folder`, with its number. {ANEW}"
            raise CheckFailed(f"{what}: {packs} files", f"{len(files)} files", advice)
        sizes = [len(part) for part in parts]
        if sum(sizes) != records.size:
            advice = f"Records are missing. {ANEW} Write all rows of a pack in one call."
            if sum(sizes) > records.size:
                advice = "Write only the records, as uint8, with .tofile: np.save adds a header."
            raise CheckFailed(f"{what}: {records.size} bytes in all", f"{sum(sizes)}", advice)
        if max(sizes) - min(sizes) > width:
            expected = f"{what}: sizes that differ by at most 1 record"
            found = f"{min(sizes) / width:g} to {max(sizes) / width:g} records"
            advice = "What happens to the records that are left over? Share them out."
            raise CheckFailed(expected, found, advice)
        if (name := files[-1].name) != f"pack_{packs - 1:04d}.bin":
            advice = "These are packs. Which names does the docstring give them?"
            raise CheckFailed(f"{what}: names as write_packs describes them", name, advice)
        if b"".join(parts) != records.tobytes():
            advice = "A pack contains neighbouring records, and the packs are in their order."
            expected = f"{what}: read in the order of their names, the same bytes"
            raise CheckFailed(expected, "others", advice)
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
            advice = "`.shuffle` changes its argument. Return another list, in a new order."
            raise CheckFailed("the caller's list does not change", "it was shuffled", advice)
        if sorted(found) != names:
            lost = f"{len(set(names) - set(found))} never"
            advice = "Draw without putting back: every pack is read, and none is read twice."
            raise CheckFailed(f"epoch {epoch}: each of 20 packs once", lost, advice)
        if found != as_names(order(list(names), epoch, 3), epoch):
            advice = "Which numbers decide the order? Only `seed` and `epoch` may."
            raise CheckFailed("one order for one epoch and seed", "another at each call", advice)
        orders.append(found)
    check_they_differ(orders, names)
    if orders[0] == as_names(order(list(names), 0, 4), 0):
        advice = "Which numbers decide the order? Both `seed` and `epoch` do."
        raise CheckFailed("another order for another seed", "the same", advice)
    if orders[1] == as_names(order(list(names), 0, 4), 0):
        advice = "A sum of seed and epoch is the same for other seeds and epochs. Keep them apart."
        raise CheckFailed("epoch 1 of seed 3 is not epoch 0 of seed 4", "the same order", advice)
    return "Every epoch reads each pack once, in a new, reproducible order."


def check_they_differ(orders: list[list[str]], names: list[str]) -> None:
    expected = "6 epochs: 6 different, random orders"
    if all(found == names for found in orders):
        advice = "Some functions change a list, and some return a new one. Is the result returned?"
        raise CheckFailed(expected, "the names in their original order", advice)
    different = len({tuple(found) for found in orders})
    if different < len(orders):
        advice = "Which numbers decide the order? Does the epoch?"
        raise CheckFailed(expected, f"{different} different ones", advice)
    pairs = set(itertools.pairwise(orders[0]))
    if min(len(pairs & set(itertools.pairwise(found))) for found in orders[1:]) > 8:
        advice = "A rotation keeps the order of neighbours."
        raise CheckFailed(expected, "most packs follow the same pack as in epoch 0", advice)


def as_names(value: Any, epoch: int) -> list[str]:
    expected = f"epoch {epoch}: a list of names"
    if value is None:
        advice = "Is there a `return` in front of it? (`.shuffle` changes a list and returns None.)"
        raise CheckFailed(expected, "None", advice)
    found = [str(name) for name in value]
    if not all(name.startswith("pack_") for name in found):
        raise CheckFailed(expected, shown(found[:4]), "Return the names, not their numbers.")
    return found
