"""Check intervals for tables whose value at the largest size is not known yet (12.5)."""

from collections.abc import Mapping
from typing import Any

from lessons.toolkit import foretelling
from lessons.toolkit.checks.shared.check import CheckFailed, exercise, pair, shown

FIT_AGAIN = "Fit the laws to the sizes that you have, and see how far apart their predictions are."


FAR = 2  # times worse at the next size; no table is that bad, so the unit must be wrong


@exercise("12.5")
def check_12_5(intervals: Mapping[str, Any]) -> str:
    """Each table has an interval that is not too wide and is possible at the next size."""
    for name, table in foretelling.TABLES.items():
        if name not in intervals:
            raise CheckFailed(f"an interval for {name}", "none", f"intervals[{name!r}] = low, high")
        if not isinstance(intervals[name], tuple | list) or len(intervals[name]) != 2:
            wanted = f"for {name} two numbers, low and high"
            raise CheckFailed(wanted, shown(intervals[name]), f"intervals[{name!r}] = low, high")
        low, high = pair(intervals[name], f"intervals[{name!r}]")
        if not 0 < low <= high:
            advice = "The lower end comes first, and both ends are above 0."
            raise CheckFailed("0 < low ≤ high", f"{low:g}, {high:g}", advice)
        if table.too_wide(low, high):
            found = f"{name}: {low:g} to {high:g}, {high / low:.3g} times"
            advice = f"A very wide interval is always right, but it tells you nothing. {FIT_AGAIN}"
            raise CheckFailed(f"high at most {table.widest:g} times low", found, advice)
        last, grown = table.values[-1], table.asked / table.sizes[-1]
        ideal = last / grown if table.is_time else last * grown
        if (high < 0.8 * ideal and table.is_time) or (low > 1.25 * ideal and not table.is_time):
            found = f"{name}: {low:g} to {high:g} {table.what}"
            advice = f"From {table.sizes[-1]:,} to {table.asked:,} the work of a time can at most "
            advice += f"grow {grown:g} times: {ideal:.4g} {table.what}. {FIT_AGAIN}"
            raise CheckFailed(
                "no better than ideal scaling from the last measured size", found, advice
            )
        if (low > FAR * last and table.is_time) or (high < last / FAR and not table.is_time):
            found = f"{name}: {low:g} to {high:g} {table.what}"
            wanted = f"after {last:,g} {table.what} on {table.sizes[-1]:,}, a value of that kind"
            advice = f"Is it in {table.what}, as the table is, or a speedup, or another unit?"
            raise CheckFailed(wanted, found, advice)
    return (
        f"{len(foretelling.TABLES)} intervals, none too wide. Below you see whether they contain "
        "the truth."
    )
