"""Check what each kind of scaling keeps constant (12.1)."""

from collections.abc import Callable
from typing import Any

from autograder.wording import counted
from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number, shown

SIZES = [1, 2, 4, 8]
BATCH, SAMPLES = 96, 4800
RIGHT: dict[str, Callable[[int], tuple[int, int]]] = {
    "strong": lambda p: (BATCH // p, SAMPLES),
    "epoch": lambda p: (BATCH, SAMPLES),
    "weak": lambda p: (BATCH, SAMPLES * p),
}
STAYS = {
    "strong": "the global batch and the images per epoch",
    "epoch": "each rank's batch and the images per epoch",
    "weak": "each rank's batch and images",
}


@exercise("12.1")
def check_12_1(program: Any) -> str:
    """Local batch size and images per epoch on 1, 2, 4 and 8 ranks (96 and 4,800 on one rank)."""
    for mode, right in RIGHT.items():
        found = program.plan(mode, list(SIZES), BATCH, SAMPLES)
        pairs = pairs_of(found, mode)
        for size, pair in zip(SIZES, pairs, strict=True):
            if pair != right(size):
                raise wrong(mode, size, pair, right(size))
        if any(isinstance(value, float) for pair in found for value in pair):
            advice = "48.0 is not a whole number of images: divide with `//`."
            raise CheckFailed("whole numbers", shown(found), advice)
    alone = program.plan("strong", [4], BATCH, SAMPLES)
    if pairs_of(alone, "strong", [4]) != [RIGHT["strong"](4)]:
        advice = "The numbers of ranks are the values in `sizes`, not their places in the list."
        raise CheckFailed(f"plan('strong', [4], …) = [{RIGHT['strong'](4)}]", shown(alone), advice)
    uneven = program.plan("strong", [3], 64, 600)
    if pairs_of(uneven, "strong", [3]) != [(21, 600)]:
        advice = (
            "64 // 3 = 21: the rest is left out, so the global batch is never larger than "
            "requested."
        )
        raise CheckFailed("plan('strong', [3], 64, 600) = [(21, 600)]", shown(uneven), advice)
    five = program.plan("strong", [5], 64, 600)
    if pairs_of(five, "strong", [5]) != [(12, 600)]:
        advice = (
            "64 / 5 = 12.8: the rest is left out, not rounded up, or 5 ranks would take 65 images."
        )
        raise CheckFailed("plan('strong', [5], 64, 600) = [(12, 600)]", shown(five), advice)
    return (
        "Strong scaling: local batches of 96, 48, 24 and 12; epoch scaling: 96 on every rank; "
        "weak scaling: 4,800 images per rank."
    )


def pairs_of(found: Any, mode: str, sizes: list[int] = SIZES) -> list[tuple[float, float]]:
    if found is None:
        expected = f"plan({mode!r}, …) is a list"
        raise CheckFailed(expected, "None", "Is there a `return` in front of it?")
    advice = "Return one pair for each size: [(local batch, images of all ranks), …]."
    try:
        pairs = [tuple(pair) for pair in found]
    except TypeError:
        raise CheckFailed(f"plan({mode!r}, …) is a list of pairs", shown(found), advice) from None
    if len(pairs) != len(sizes) or any(len(pair) != 2 for pair in pairs):
        raise CheckFailed(f"plan({mode!r}, …) has {len(sizes)} pairs", shown(found), advice)
    names = f"local batch of {mode}", f"images of {mode}"
    return [(number(a, names[0]), number(b, names[1])) for a, b in pairs]


def wrong(mode: str, size: int, pair: tuple[float, float], right: tuple[int, int]) -> CheckFailed:
    advice = f"{mode}: {STAYS[mode]} do not depend on the number of ranks."
    batch, samples = pair
    kinds = [name for name, other in RIGHT.items() if name != mode and other(size) == pair]
    if kinds and size > 1:
        advice = f"That is {kinds[0]} scaling. {advice}"
    elif pair == (right[1], right[0]):
        advice = "The pair is the wrong way round: first the local batch, then the images."
    elif mode == "strong" and batch == BATCH * size:
        advice = f"Divide: the ranks share one batch. {advice}"
    elif mode != "weak" and samples * size == SAMPLES:
        advice = f"The images are those of all ranks together. {advice}"
    elif mode == "weak" and samples == SAMPLES:
        advice = (
            f"Every rank adds {SAMPLES:,} images: together they have size times as many. {advice}"
        )
    expected = f"plan({mode!r}, …) on {counted(size, 'rank')} = {right}"
    return CheckFailed(expected, shown(tuple(int(v) if v == int(v) else v for v in pair)), advice)
