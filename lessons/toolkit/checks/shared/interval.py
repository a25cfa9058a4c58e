"""Check an interval from a student's function, and recognise known mistakes."""

from lessons.toolkit.checks.shared.check import CheckFailed


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
    advice = otherwise
    if same(found, (right[1], right[0])):
        advice = "Low and high are swapped: the smaller number comes first."
    for wrong, why in mistakes.items():
        if same(found, wrong):
            advice = why
    raise CheckFailed(
        f"{what} = ({right[0]:.5g}, {right[1]:.5g})", f"({found[0]:.5g}, {found[1]:.5g})", advice
    )
