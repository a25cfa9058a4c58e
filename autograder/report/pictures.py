"""Draw inline SVG without scripts, fonts or files. Colours come from the page's style."""

import math
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup, escape

from autograder.verdict import Point, Rounds, RunSummary
from autograder.wording import shown

WIDTH, HEIGHT = 340, 200
LEFT, RIGHT, TOP, FLOOR = 44, WIDTH - 12, 26, HEIGHT - 34
Height = Callable[[float], float]  # of a value, in the picture
Slot = Sequence[tuple[str, float, float]]  # bars, with their share of the slot's width


def _frame(title: str, below: str, body: Sequence[str]) -> Markup:
    """Return the picture, with a label below its horizontal axis."""
    label = _text((LEFT + RIGHT) / 2, HEIGHT - 4, below, kind="unit")
    opening = f'<svg class="picture" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return Markup(f"{opening}<title>{escape(title)}</title>{''.join(body)}{label}</svg>")


def _text(x: float, y: float, text: object, anchor: str = "middle", kind: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'
    )


def _nice(largest: float) -> list[float]:
    """Return axis ticks at round numbers, from 0 to at least the largest value."""
    if not largest > 0:
        return [0, 1]
    raw = largest / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    return [i * step for i in range(math.ceil(largest / step - 1e-9) + 1)]


def _vertical_axis(ticks: Sequence[float], height: Height, unit: str) -> list[str]:
    lines = []
    for tick in ticks:
        lines.append(_rule(height(tick), "grid"))
        lines.append(_text(LEFT - 6, height(tick) + 4, shown(tick), "end"))
    return [*lines, _text(4, 10, unit, "start", "unit")]


def _rule(y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _bars(
    title: str, slots: Sequence[Slot], largest: float, rules: Mapping[str, float], *labels: str
) -> Markup:
    """Draw the bars of each slot from the floor, and horizontal lines. The slots are numbered."""
    ticks, (unit, below) = _nice(largest), labels

    def height(value: float) -> float:
        return FLOOR - (FLOOR - TOP) * min(value, ticks[-1]) / ticks[-1]

    body = _vertical_axis(ticks, height, unit)
    slot = (RIGHT - LEFT) / max(len(slots), 1)
    for index, bars in enumerate(slots):
        x = LEFT + slot * (index + 0.5)
        for kind, value, share in bars:
            y, width = height(value), min(share * slot, 60 * share)
            corner = f'class="{kind}" x="{x - width / 2:.1f}" y="{y:.1f}"'
            body.append(f'<rect {corner} width="{width:.1f}" height="{FLOOR - y:.1f}"/>')
        if index % math.ceil(len(slots) / 12) == 0:
            body.append(_text(x, FLOOR + 15, index + 1))
    body += [_rule(height(value), kind) for kind, value in rules.items()]
    return _frame(title, below, body)


def epoch_bars(run: RunSummary) -> Markup:
    """Draw the seconds of every epoch. The first is hatched, because it includes the start-up."""
    seconds = [s if s is not None and 0 < s < 1e9 else 0.0 for s in run.epoch_seconds[:60]]
    slots = [[("bar" if index else "bar first", s, 0.7)] for index, s in enumerate(seconds)]
    median = {"mark": run.epoch_s.value} if run.epoch_s else {}
    title = f"Seconds of each epoch of {run.name}; the first is hatched"
    return _bars(title, slots, max(seconds, default=0.0), median, "s per epoch", "epoch")


def rounds_bars(rounds: Rounds, workers: int) -> Markup:
    """Plot the speedup in each round, with the speedup without communication hatched.

    The unit is one rank alone. The line is the median; the dashed line is one unit per rank.
    """
    slots = [
        [("bar first", workers * alone / silent, 0.8), ("bar", workers * alone / together, 0.44)]
        for alone, silent, together in rounds.seconds
    ]
    values = [value for bars in slots for _, value, _ in bars]
    largest = min(max([float(workers), *values]), 2.0 * workers)
    title = "Speedup in each round, with the machine's ceiling (hatched)"
    rules = {"mark": rounds.speedup.value, "ideal": float(workers)}
    return _bars(title, slots, largest, rules, "times one rank", "round")


def speedup_curve(points: Sequence[tuple[int, Point]]) -> Markup:
    """Plot speedup against workers, with intervals.

    Both axes are in powers of two, so the ideal (dashed) is a straight line.
    """
    most = max(2, *(workers for workers, _ in points))
    values = [1.0, float(most)]
    values += [end for _, p in points for end in (p.low, p.high) if end > 0]
    first = max(math.floor(math.log2(min(values))), -6)
    last = min(math.ceil(math.log2(max(values)) - 1e-9), math.ceil(math.log2(most)) + 3)

    def x_of(workers: float) -> float:
        return LEFT + 10 + (RIGHT - LEFT - 20) * math.log2(workers) / math.log2(most)

    def y_of(value: float) -> float:
        power = min(max(math.log2(max(value, 1e-9)), first), last)
        return FLOOR - (FLOOR - TOP) * (power - first) / (last - first)

    ticks = [2.0**i for i in range(first, last + 1)]
    body = _vertical_axis(ticks[:: math.ceil(len(ticks) / 7)], y_of, "speedup")
    places = " ".join(f"{x_of(size):.1f},{y_of(size):.1f}" for size in (1, most))
    body.append(f'<polyline class="ideal" points="{places}"/>')
    sizes = [2**i for i in range(int(math.log2(most)) + 1)]
    for size in sizes[:: math.ceil(len(sizes) / 8)]:
        body.append(_text(x_of(size), FLOOR + 15, size))
    for workers, p in sorted(points, key=lambda item: item[0]):
        x = x_of(max(workers, 1))
        ends = f'y1="{y_of(p.low):.1f}" y2="{y_of(p.high):.1f}"'
        body.append(f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" {ends}/>')
        body.append(f'<circle class="dot" cx="{x:.1f}" cy="{y_of(p.value):.1f}" r="4"/>')
    return _frame("Speedup over workers; the ideal is dashed", "workers", body)
