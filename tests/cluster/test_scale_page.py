"""docs/scale*.md: the numbers that they derive follow from their formulas."""

import math
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "\n".join(
    (DOCS / f"{name}.md").read_text() for name in ("scale", "scale-jobs", "scale-class")
)
WORDS = " ".join(PAGE.split())
ALPHA, BANDWIDTH, GRADIENTS = 5e-6, 25e9, 25.6e6 * 4  # s, bytes/s, bytes
GRADING = (15.9 - 2.3) / (300 - 30) / 7  # CPU seconds per lesson of an additional student
NODES = {gpus: gpus / 4 for gpus in (8, 64, 1024, 10000)}


def table(first_heading: str) -> dict[int, list[float]]:
    """Return the rows of numbers below a table's header, keyed by their first column."""
    rows = PAGE.split(f"| {first_heading}")[1].split("\n\n")[0].splitlines()[2:]
    found = [[float(cell.replace(",", "")) for cell in row.strip("| ").split("|")] for row in rows]
    return {int(first): rest for first, *rest in found}


def rounded(value: float, shown: float) -> bool:
    """Return whether `shown` is the value rounded as on a page, to at least three digits."""
    return shown == pytest.approx(value, rel=6e-3)


def test_the_exchange_of_gradients():
    rows = table("GPUs | ring, ms")
    assert sorted(rows) == sorted(NODES)
    for p, shown in rows.items():
        transfer = 2 * (p - 1) / p * GRADIENTS / BANDWIDTH
        ring = 2 * (p - 1) * ALPHA + transfer
        tree = 2 * math.ceil(math.log2(p)) * ALPHA + transfer
        server = 2 * p * (ALPHA + GRADIENTS / BANDWIDTH)
        for seconds, milliseconds in zip((ring, tree, server), shown, strict=True):
            assert rounded(1000 * seconds, milliseconds), (p, milliseconds)


def test_how_often_something_fails():
    rows = table("GPUs | M, hours")
    assert sorted(rows) == [64, 1024, 10000]
    for gpus, (hours, minutes) in rows.items():
        between = 54 * 24 / 419 * 16384 / gpus
        assert rounded(between, hours)
        assert math.sqrt(2 * 60 * between * 3600) / 60 == pytest.approx(minutes, abs=0.51)


def names_asked() -> int:
    return int(re.findall(r"\| TensorFlow and Horovod \| ([\d,]+)", PAGE)[0].replace(",", ""))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.ceil(50_000 / 64), "{} steps on one GPU"),
        (math.ceil(50_000 / 64 / 8), "{} on 8"),
        (math.ceil(50_000 / 64 / 64), "{} on 64 and less than one on 1,024"),
        (NODES[8] * names_asked() / 1e3, "2 nodes make {:.0f} thousand requests"),
        (NODES[64] * names_asked() / 1e3, "16 nodes {:.0f} thousand"),
        (NODES[1024] * names_asked() / 1e6, "256 nodes {:.1f} million"),
        (NODES[10000] * names_asked() / 1e6, "2,500 nodes {:.0f} million"),
        (1024 * 186e6 / 1e9, "{:.0f} GB to read at the start"),
        (256 * 186e6 / 1e9, "{:.0f} GB if the ranks of a node share"),
        (80 * 1024 * 1000 / 1e6, "produces {:.0f} MB on 1,024 ranks in 1,000 steps"),
        (100 * (1 - (1 - 1e-4) ** 8), "{:.1f} % of the steps on 8 GPUs"),
        (100 * (1 - (1 - 1e-4) ** 64), "{:.1f} % on 64"),
        (100 * (1 - (1 - 1e-4) ** 1024), "{:.1f} % on 1,024"),
        (100 * (1 - (1 - 1e-4) ** 10000), "{:.0f} % on 10,000"),
        (13 * 4 * 10, "{} jobs per term for 10 students"),
        (13 * 4 * 1000, "{:,} for 1,000"),
        (13 * 4 * 100_000 / 1e6, "{:.1f} million for 100,000"),
        (1000 * 3 // 5, "{} jobs for 1,000 students"),
        (100_000 * 3 // 5, "{:,} for 100,000"),
        (1000 * 81_500 / 1e6, "{} million files and 3.4 TB"),
        (100_000 * 13 / 1e6, "{} million zips"),
        (100_000 * 13 * 4 * 30e3 / 1e9, "or {:.0f} GB unpacked"),
        (100_000 * 13 * 4 / 1e6, "into {} million files"),
        (1e3 * GRADING, "which is {:.1f} ms for each lesson"),
        (1000 * 13 * GRADING, "{:.0f} s of CPU for 1,000 students"),
        (100_000 * 13 * GRADING / 3600, "{:.1f} hours for 100,000"),
        (100_000 * 13 * GRADING / 60 / 16, "{:.0f} minutes for each of 16 shards"),
    ],
)
def test_a_derived_number_of_the_text(value, said):
    assert said.format(value) in WORDS


def test_every_script_that_is_named_exists():
    root = Path(__file__).parents[2]
    named = set(re.findall(r"benchmarks/\w+/\w+\.py", PAGE))
    assert len(named) >= 3
    assert not [name for name in named if not (root / name).is_file()]
