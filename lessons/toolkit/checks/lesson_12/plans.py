"""Check what each kind of scaling keeps constant (12.1), and predictions for tables (12.5)."""

from collections.abc import Callable, Mapping
from typing import Any

from lessons.toolkit import foretelling
from lessons.toolkit.checks.shared.check import CheckFailed, exercise, pair, shown

PLANS: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "strong": lambda p, batch, samples: (batch // p, samples),
    "epoch": lambda p, batch, samples: (batch, samples),
    "weak": lambda p, batch, samples: (batch, samples * p),
}
STAYS = {
    "strong": "the global batch and the images of all ranks together",
    "epoch": "each rank's batch and the images of all ranks together",
    "weak": "each rank's batch and each rank's images",
}
CASES = (([1, 2, 4, 8], 96, 4800), ([4], 96, 4800), ([5], 64, 600))  # sizes, batch, samples


@exercise("12.1")
def check_12_1(program: Any) -> str:
    """Local batch size and images per epoch on 1, 2, 4 and 8 ranks (96 and 4,800 on one rank)."""
    for mode, plan in PLANS.items():
        for sizes, batch, samples in CASES:
            right = [plan(p, batch, samples) for p in sizes]
            found = [tuple(each) for each in program.plan(mode, list(sizes), batch, samples)]
            if found == right and not any(isinstance(v, float) for each in found for v in each):
                continue
            advice = f"{mode}: {STAYS[mode]} do not depend on the number of ranks."
            for other, wrong in PLANS.items():
                if other != mode and found == [wrong(p, batch, samples) for p in sizes]:
                    advice = f"That is {other} scaling. {advice}"
            if found == [(n, b) for b, n in right]:
                advice = "The pair is the wrong way round: first the local batch, then the images."
            elif mode == "strong" and (found == right or sizes == [5]):
                advice = "Divide with `//`: the rest is left out, so 64 // 5 = 12."
            elif sizes == [4]:
                advice = "The numbers of ranks are the values in `sizes`, not their places in it."
            what = f"plan({mode!r}, {sizes}, {batch}, {samples}) = {right}"
            raise CheckFailed(what, shown(found), advice)
    return (
        "Strong scaling: local batches of 96, 48, 24 and 12; epoch scaling: 96 on every rank; "
        "weak scaling: 4,800 images per rank."
    )


FAR = 2  # times worse at the next size; no table is that bad, so the unit must be wrong
FIT_AGAIN = "Fit the laws to the sizes that you have, and see how far apart their predictions are."


@exercise("12.5")
def check_12_5(intervals: Mapping[str, Any]) -> str:
    """Each table has an interval that is not too wide and is possible at the next size."""
    for name, table in foretelling.TABLES.items():
        if not isinstance(intervals.get(name), tuple | list):
            advice = f"intervals[{name!r}] = low, high"
            raise CheckFailed(f"an interval for {name}", shown(intervals.get(name)), advice)
        low, high = pair(intervals[name], f"intervals[{name!r}]")
        found = f"{name}: {low:g} to {high:g} {table.what}"
        if not 0 < low <= high:
            advice = "The lower end comes first, and both ends are above 0."
            raise CheckFailed("0 < low ≤ high", found, advice)
        if table.too_wide(low, high):
            advice = f"A very wide interval is always right, but it tells you nothing. {FIT_AGAIN}"
            raise CheckFailed(f"high at most {table.widest:g} times low", found, advice)
        last, grown = table.values[-1], table.asked / table.sizes[-1]
        if table.is_time:
            too_good, no_such_value = high < 0.8 * last / grown, low > FAR * last
        else:
            too_good, no_such_value = low > 1.25 * last * grown, high < last / FAR
        after = f"after {last:,g} {table.what} on {table.sizes[-1]:,}"
        if too_good:
            advice = f"On {table.asked:,} it can at most be {grown:g} times as good. {FIT_AGAIN}"
            raise CheckFailed(f"no better than ideal scaling {after}", found, advice)
        if no_such_value:
            advice = f"Is it in {table.what}, as the table is, or a speedup, or another unit?"
            raise CheckFailed(f"{after}, a value of that kind", found, advice)
    return (
        f"{len(foretelling.TABLES)} intervals, none too wide. Below you see whether they contain "
        "the truth."
    )
