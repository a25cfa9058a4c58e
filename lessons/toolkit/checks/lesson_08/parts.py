"""Check the parts of a data set (8.1): every sample's index is in exactly one part."""

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]

ONE_LIST = "All lists are equal: `[[]] * n` is one list n times; `[[] for _ in range(n)]` makes n."


def as_lists(value: Any, name: str, count: int) -> list[list[Any]]:
    if value is None:
        raise CheckFailed(f"{name} is a list", "None", "Is there a `return` in front of it?")
    try:
        lists = [list(part) for part in value]
    except TypeError:
        raise CheckFailed(
            f"{name} is a list of lists", shown(value), "Return one list per part."
        ) from None
    if len(lists) != count:
        advice = "Return one list for each rank or part."
        if len(lists) == 1:
            advice += " Is `return` inside the loop?"
        raise CheckFailed(f"{count} lists", f"{len(lists)}", advice)
    return lists


@exercise("8.1")
def check_8_1(partition: Function) -> str:
    """Every sample is in one part, and every class is split evenly, give or take one sample."""
    import numpy as np

    rng = np.random.default_rng(3)
    cases = [(np.sort(rng.integers(0, 10, 1003)), 8), (rng.integers(0, 3, 50), 7)]
    for labels, parts in cases:
        found = as_lists(partition(labels.copy(), parts), "partition(labels, parts)", parts)
        given = Counter(as_index(index) for part in found for index in part)
        lost = [index for index in range(len(labels)) if index not in given]
        twice = sum(count > 1 for count in given.values())
        if lost or twice or len(given) > len(labels):
            found_lost = f"{len(lost)} in no part, {twice} in several"
            if lost:
                found_lost += f"; the first missing one is {lost[0]}"
            advice = why_not_one(found, given, lost, labels)
            raise CheckFailed(f"each of {len(labels)} indices in one part", found_lost, advice)
        counts = np.array(
            [
                np.bincount(labels[[as_index(index) for index in part]], minlength=10)
                for part in found
            ]
        )
        spread = counts.max(axis=0) - counts.min(axis=0)
        if spread.max() > 1:
            worst = int(spread.argmax())
            raise CheckFailed(
                "parts whose number of samples per class differs by at most 1",
                f"class {worst}: from {counts[:, worst].min()} to {counts[:, worst].max()}",
                "Order the indices by class, then distribute them: by_class[part::parts].",
            )
    return "1,003 images in 8 parts: the numbers of each digit differ by at most one."


def as_index(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        advice = "Indices are whole numbers, so that x[index] works."
        if isinstance(value, tuple | list) or (hasattr(value, "shape") and value.shape):
            advice = (
                "np.where(…) returns a tuple whose element [0] is the array. "
                "To add many items to a list, use extend; append adds them as one item."
            )
        found = f"an item is {' '.join(shown(value).split())}"
        raise CheckFailed("every item of a part is an index", found, advice) from None


def why_not_one(found: list[list[Any]], given: Counter[int], lost: list[int], labels: Any) -> str:
    """Return the probable mistake when an index is missing from all parts or is in several."""
    n, parts = len(labels), len(found)
    lost_of_class = Counter(labels[lost].tolist())
    whole = [kind for kind, count in lost_of_class.items() if count == (labels == kind).sum()]
    if any(not 0 <= index < n for index in given):
        return f"Indices of {n} samples run from 0 to {n - 1}."
    if len(given) < n and set(given) <= set(labels.tolist()) and max(given.values(), default=0) > 1:
        return "These are labels. Return indices: the places of the samples in `labels`."
    if parts > 1 and given and all(map(found[0].__eq__, found[1:])):
        return ONE_LIST
    if max(given.values(), default=0) > 1:
        return "Deal out the indices of each class like cards: each index goes to one part."
    if len(lost) > n / 2:
        return "Most indices are missing: is `return` inside the loop?"
    if whole:
        return f"All of class {whole[0]} are missing: does the loop cover all classes?"
    if max(lost_of_class.values()) < parts:
        return (
            "A few indices are missing. If a class does not divide evenly among the parts, "
            "some parts get one index more."
        )
    return "Distribute the indices of all samples."
