"""Measure how often the intervals of `autograder foretell` contain the truth, and their width.

python benchmarks/grading/foretell.py [--cases 450] [--seed 2026]

The published tables are cut after three or more sizes, and the remaining sizes are predicted. The
same is done with generated tables: eleven families of scaling, 1 to 5 % noise, and one or three
runs per size. The comparison is the range between the fits of Amdahl's and Gustafson's laws, which
most people would draw. `held` is the share of values in the interval. `ratio` is the median of its
upper end divided by its lower end.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from autograder.foretell import table
from autograder.measuring import laws

PUBLISHED = sorted(Path(__file__).with_name("scaling_tables").glob("*.csv"))


@dataclass(frozen=True, slots=True)
class Outcome:
    group: str
    beyond: float  # the predicted size divided by the largest given size
    held: bool
    ratio: float
    beside_held: bool
    beside_ratio: float
    next: bool = False  # only the last row was predicted


def gain(whole: laws.Study, size: int) -> float:
    cost = whole.costs[whole.sizes.index(size)]
    return size / whole.sizes[0] * math.exp(whole.costs[0] - cost)


def outcome(
    group: str, given: laws.Study, size: int, truth: float, node: int | None, last: bool = False
) -> Outcome:
    [answer] = laws.foretell(given, [size], node)
    said = {word.fit.form.name: word.best for word in answer.laws}
    low, high = sorted((said["Amdahl"], said["Gustafson"]))
    return Outcome(
        group,
        size / given.sizes[-1],
        answer.low <= truth <= answer.high,
        answer.ratio,
        low <= truth <= high,
        high / low,
        last,
    )


# --- published tables ----------------------------------------------------------------------------


def of_published() -> Iterator[Outcome]:
    for file in PUBLISHED:
        whole = table.read(file)
        sizes = whole.study.sizes
        for count in range(3, len(sizes)):
            given = table.of_points(whole.points[:count], whole.column).study
            for size in sizes[count:]:
                if size <= laws.farthest(given):
                    last = count == len(sizes) - 1
                    yield outcome(file.stem, given, size, gain(whole.study, size), None, last)


# --- generated tables ----------------------------------------------------------------------------

Draw = Callable[[float, float], float]  # log-uniform, between two powers of ten


def step(r: np.ndarray, at: float, high: float) -> np.ndarray:
    return np.where(r > at, high, 1.0)


FAMILIES: dict[str, Callable[[np.ndarray, Draw, np.random.Generator], np.ndarray]] = {
    "Amdahl": lambda r, ten, _: 1 + ten(-3.5, -1) * (r - 1),
    "fixed cost": lambda r, ten, _: 1 + ten(-1.5, 0.5) * (r - 1),
    "Gustafson": lambda r, _, rng: r / (r - rng.uniform(0, 0.5) * (r - 1)),
    "USL": lambda r, ten, _: 1 + ten(-3.5, -1.3) * ((r - 1) + ten(-3, -1) * r * (r - 1)),
    "tree": lambda r, ten, _: 1 + ten(-3, -0.7) * np.log2(r),
    "tree, fixed work": lambda r, ten, _: 1 + ten(-3.5, -1.7) * r * np.log2(r),
    "ring": lambda r, ten, rng: 1 + rng.uniform(0, 0.3) * (1 - 1 / r) + ten(-4, -2) * (r - 1),
    "nothing lost": lambda r, _, __: np.ones_like(r),
    "changed batch": lambda r, ten, rng: (
        (1 + ten(-3, -1.5) * (r - 1)) * step(r, 2.0 ** rng.integers(0, 5), rng.uniform(0.85, 1))
    ),
}
JUMPS = {"jump, node known": True, "jump, node not told": False}


def made_up(cases: int, seed: int) -> Iterator[tuple[bool, Outcome]]:
    """Yield outcomes, each with whether it is for a noisy value or for the noiseless truth."""
    rng = np.random.default_rng(seed)

    def ten(low: float, high: float) -> float:
        return 10 ** rng.uniform(low, high)

    names = [*FAMILIES, *JUMPS]
    for case in range(cases):
        name = names[case % len(names)]
        first, count = int(rng.choice([1, 1, 1, 2, 4, 8, 16])), int(rng.integers(3, 7))
        relative = 2.0 ** np.arange(count + 4)
        node = None
        if name in JUMPS:
            first, node = 1, int(rng.choice([2, 4, 8]))
            cost = 1 + ten(-3, -1.3) * np.log2(relative)
            cost *= step(relative, node, rng.uniform(1, 1.35))
        else:
            cost = FAMILIES[name](relative, ten, rng)
        noise, repeats = rng.choice([0.01, 0.02, 0.03, 0.05]), int(rng.choice([1, 3]))
        shaken = cost[:, None] * np.exp(rng.normal(0, noise, (cost.size, repeats)))
        sizes = [first * int(r) for r in relative]
        times = [shaken[i] / sizes[i] for i in range(len(sizes))]
        given = laws.of_times(
            [n for n in sizes[:count] for _ in range(repeats)], np.concatenate(times[:count])
        )
        for i in range(count, len(sizes)):
            if sizes[i] > laws.farthest(given):
                continue
            base = math.exp(given.costs[0]) / first  # the median time of the first size
            known = node if JUMPS.get(name) else None
            for noisy, time in ((True, times[i][0]), (False, cost[i] / sizes[i])):
                yield noisy, outcome(name, given, sizes[i], base / time, known)


# --- tables of outcomes --------------------------------------------------------------------------

ROW = "{:<26} {:>6} {:>7} {:>7} {:>9} {:>7}"


def line(name: str, found: Sequence[Outcome]) -> str:
    def share(kept: list[bool]) -> str:
        return f"{100 * sum(kept) / len(kept):.0f} %"

    return ROW.format(
        name,
        len(found),
        share([o.held for o in found]),
        f"{median(o.ratio for o in found):.2f}",
        share([o.beside_held for o in found]),
        f"{median(o.beside_ratio for o in found):.2f}",
    )


def by(title: str, found: Sequence[Outcome], key: Callable[[Outcome], object]) -> None:
    print(f"\n{ROW.format(title, 'asked', 'held', 'ratio', 'A–G held', 'ratio')}")
    for group in dict.fromkeys(sorted(map(key, found)) if title != "table" else map(key, found)):
        print(line(str(group), [o for o in found if key(o) == group]))
    print(line("all", found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=450)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    published = list(of_published())
    by("table", published, lambda o: o.group)
    by("times the largest size", published, lambda o: o.beyond)
    print(line("only the last row unknown", [o for o in published if o.next]))
    everything = list(made_up(options.cases, options.seed))
    noisy = [o for is_noisy, o in everything if is_noisy]
    by("family, a noisy value", noisy, lambda o: o.group)
    by("times the largest size", noisy, lambda o: o.beyond)
    print(line("the truth without noise", [o for is_noisy, o in everything if not is_noisy]))


if __name__ == "__main__":
    main()
