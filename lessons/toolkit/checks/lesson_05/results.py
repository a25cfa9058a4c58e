"""Check intervals of measured times (5.5), and means that include the first epoch (5.6)."""

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
    check_number,
    exercise,
    shown,
)
from lessons.toolkit.checks.shared.interval import check_ratio

EITHER_FIRST = "Here the later interval is the first argument, so you need two comparisons."


@exercise("5.5")
def check_5_5(interval: Function, overlap: Function) -> str:
    """9 s / 4 s is in [1.89, 2.71]; intervals overlap when they share a value."""
    for a, b in ((9, 6), (9, 4), (27, 16), (27, 8)):
        check_ratio(interval, a, b)
    cases = [
        ((1.89, 2.71), (2.60, 3.00), True, "The value 2.65 is in both."),
        ((2.60, 3.00), (1.89, 2.71), True, f"The value 2.65 is in both. {EITHER_FIRST}"),
        ((1.0, 2.0), (3.0, 4.0), False, "There is a gap from 2 to 3."),
        ((3.0, 4.0), (1.0, 2.0), False, f"There is a gap from 2 to 3. {EITHER_FIRST}"),
        ((1.0, 4.0), (2.0, 3.0), True, "One is inside the other."),
    ]
    for one, other, right, why in cases:
        found = overlap(one, other)
        if found is None or bool(found) != right:
            why = "Is there a `return` in front of it?" if found is None else why
            raise CheckFailed(f"overlap({one}, {other}) is {right}", shown(found), why)
    return "9 s / 4 s is in [1.89, 2.71]. If two intervals overlap, either may be larger."


@exercise("5.6")
def check_5_6(mean_of_all: Function, apparent: Function) -> str:
    """With the first epoch, the mean of 31 and 12 s (21.5) is below that of 49 and 6 s (27.5)."""
    for seconds in ([31, 12], [49, 6], [63, 33, 33]):
        mistakes = {
            seconds[-1]: "That leaves out the first epoch, which is the right way. But this "
            "exercise asks for the mean of ALL epochs.",
            sum(seconds): "Divide by the number of epochs.",
            sum(seconds) / 2: "Divide by the number of epochs, whatever it is.",
        }
        right = sum(seconds) / len(seconds)
        check_number(mean_of_all, "mean_of_all", (seconds,), right, mistakes)
    mistakes = {
        27.5 / 21.5: "This is upside down: the base's time comes first.",
        12 / 6: "That is the true speedup, which leaves out the first epochs. Return the "
        "apparent speedup.",
    }
    check_number(apparent, "apparent", ([31, 12], [49, 6]), 21.5 / 27.5, mistakes)
    return "21.5 s / 27.5 s = 0.78, where the true speedup is 2."
