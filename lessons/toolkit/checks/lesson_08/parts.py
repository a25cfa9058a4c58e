"""Check the parts of a data set (8.1) and of the samples (8.5)."""

import itertools
from collections import Counter
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

ONE_LIST = "`[[]] * n` is one list n times; `[[] for _ in range(n)]` makes n lists."


def as_lists(value: Any, name: str, count: int) -> list[list[Any]]:
    try:
        lists = [list(part) for part in value]
    except TypeError:
        advice = "Return one list per part."
        raise CheckFailed(f"{name} is a list of lists", shown(value), advice) from None
    if len(lists) != count:
        advice = "Return one list for each rank or part. Is `return` inside the loop?"
        raise CheckFailed(f"{count} lists", f"{len(lists)}", advice)
    return lists


def each_once(parts: list[list[Any]], items: list[Any], what: str, advice: str) -> None:
    """Check that each item is in exactly one part."""
    given = Counter(item for part in parts for item in part)
    lost = [item for item in items if item not in given]
    twice = sum(count > 1 for count in given.values())
    if lost or twice or len(given) > len(items):
        found = f"{len(lost)} are in no part, {twice} in several"
        found += f"; {shown(lost[0])} is missing" if lost else ""
        if len(parts) > 1 and parts[0] and parts.count(parts[0]) == len(parts):
            advice = f"All parts are equal. {ONE_LIST}"
        raise CheckFailed(f"{what}: each in one part", found, advice)


@exercise("8.1")
def check_8_1(partition: Function) -> str:
    """Every sample is in one part, and every class is split evenly, give or take one sample."""
    import numpy as np

    rng = np.random.default_rng(3)
    for labels, parts in ((np.sort(rng.integers(0, 10, 1003)), 8), (rng.integers(0, 3, 50), 7)):
        found = as_lists(partition(labels.copy(), parts), "partition(labels, parts)", parts)
        try:
            indices = [np.array(part, dtype=int, ndmin=1).tolist() for part in found]
            counts = np.array([np.bincount(labels[part], minlength=10) for part in indices])
        except (TypeError, ValueError, IndexError):
            advice = (
                "Every item is an index from 0 to n - 1. np.where(…) returns a tuple whose element "
                "[0] is the array; extend adds many items to a list, append only one."
            )
            raise CheckFailed("lists of indices", shown(found[0]), advice) from None
        advice = (
            "Return indices, not labels. If a class does not divide evenly, some parts get one "
            "more of it. Is `return` inside the loop?"
        )
        each_once(indices, list(range(len(labels))), f"{len(labels)} indices", advice)
        spread = counts.max(axis=0) - counts.min(axis=0)
        if spread.max() > 1:
            worst = int(spread.argmax())
            raise CheckFailed(
                "parts whose number of samples per class differs by at most 1",
                f"class {worst}: from {counts[:, worst].min()} to {counts[:, worst].max()}",
                "In which order must the indices be, if dealing is to be fair to every class?",
            )
    return "1,003 images in 8 parts: the numbers of each digit differ by at most one."


@exercise("8.5")
def check_8_5(my_samples: Function) -> str:
    """In each epoch all ranks together read every sample once, in a new order."""
    n, size = 23, 4
    orders = []
    for epoch in (0, 1, 2):
        shares, again = (
            [[int(i) for i in my_samples(n, rank, size, epoch)] for rank in range(size)]
            for _ in range(2)
        )
        if again != shares:
            advice = "Without a seed each rank draws another order."
            raise CheckFailed("one order for an epoch", "another at each call", advice)
        advice = "Do all ranks draw the same order? Does each take a part that no other takes?"
        each_once(shares, list(range(n)), f"{n} samples, {size} ranks", advice)
        orders.append(shares)
    if orders[0] == orders[1] or orders[1] == orders[2]:
        advice = "What may all ranks share that differs between epochs?"
        raise CheckFailed("a different order in epoch 1 than in epoch 0", "the same", advice)
    steps = {(second - first) % n for first, second in itertools.pairwise(orders[0][0])}
    if len(steps) == 1:
        found = f"each sample of rank 0 is {steps.pop()} after the one before"
        raise CheckFailed("samples in random order", found, "Shuffle before slicing.")
    if [int(i) for i in my_samples(n, 0, size, 0, 2)] == orders[0][0]:
        advice = "What should decide the order besides the epoch?"
        raise CheckFailed("a different order with seed=2 than with seed=1", "the same", advice)
    return (
        "Each sample is read once per epoch, in an order that all ranks share and that is new "
        "each epoch."
    )
