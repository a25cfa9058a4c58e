"""Check an interval from a student's function, and recognise known mistakes."""

from lessons.toolkit.checks.shared.check import CheckFailed, Function, pair

HALF = "Rounding changes a time by at most half a second, not by a whole one."
INDEPENDENT = (
    "The numerator and the denominator are rounded independently: the smallest ratio has the "
    "smallest numerator and the LARGEST denominator."
)


def check_ratio(interval: Function, a: int, b: int) -> None:
    """Check the interval of a ratio of two times that were rounded to whole seconds."""
    call = f"interval({a}, {b})"
    mistakes = {
        ((a - 0.5) / (b - 0.5), (a + 0.5) / (b + 0.5)): INDEPENDENT,
        ((a + 0.5) / (b + 0.5), (a - 0.5) / (b - 0.5)): INDEPENDENT,
        ((a - 1) / (b + 1), (a + 1) / (b - 1)): HALF,
    }
    right = ((a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5))
    otherwise = f"What can {a} s have been at most, and at least? And {b} s?"
    check_interval(pair(interval(a, b), call), right, call, otherwise, mistakes)


def check_interval(
    found: tuple[float, float],
    right: tuple[float, float],
    what: str,
    otherwise: str,
    mistakes: dict[tuple[float, float], str],
) -> None:
    def same(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return all(abs(x - y) <= 1e-3 * abs(y) for x, y in zip(a, b, strict=True))

    if same(found, right):
        return
    mistakes = mistakes | {right[::-1]: "Low and high are swapped: the smaller number comes first."}
    advice = next((why for wrong, why in mistakes.items() if same(found, wrong)), otherwise)
    expected = f"{what}: the smallest and the largest value that the rounded times allow"
    raise CheckFailed(expected, f"({found[0]:.5g}, {found[1]:.5g})", advice)
