"""Predict the value at the largest size of a published table, before you see it.

    foretelling.TABLES["k80_resnet152"]             # the sizes that you may fit, and the question
    foretelling.reveal("k80_resnet152", 900, 1200)  # the true value, beside your interval

The true values are published, so they are not secret. They are only encoded, so nobody who reads or
searches this folder sees them before writing an interval. The instructor has the grader's copy.
"""

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lessons.toolkit.predictions import NOTES, said


@dataclass(frozen=True)
class Table:
    """The sizes and values that are available for a fit.

    `asked` is the size whose value is to be predicted.
    """

    title: str
    source: str
    what: str  # unit of the values: "images/s", "minutes"
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    asked: int
    widest: float  # largest allowed ratio of an interval's high end to its low end
    is_time: bool = False

    def too_wide(self, low: float, high: float) -> bool:
        return high / low > self.widest * (1 + 1e-9)

    @property
    def speedups(self) -> list[float]:
        """Return the speedups relative to the smallest size."""
        first = self.values[0]
        return [first / value if self.is_time else value / first for value in self.values]


TENSORFLOW = "TensorFlow's benchmarks of May 2017, docs_src/performance/benchmarks.md"
# tests/lessons/toolkit/test_foretelling.py checks that rules of thumb do not pass all of them.
TABLES = {
    "k80_resnet50": Table(
        "ResNet-50, K80 on EC2", TENSORFLOW, "images/s",
        (1, 8, 16, 32), (52.4, 378, 751, 1388), 64, 1.45,
    ),
    "k80_resnet152": Table(
        "ResNet-152, K80 on EC2", TENSORFLOW, "images/s",
        (1, 8, 16, 32), (19.4, 146, 291, 565), 64, 1.3,
    ),
    "p100_vgg16": Table(
        "VGG16, 32 images per GPU, P100", TENSORFLOW, "images/s",
        (1, 2, 4), (144, 281, 549), 8, 1.32,
    ),
    "a100_minutes": Table(
        "ResNet-50 to 75.9 %, A100 GPUs of a Dell XE8545", "MLPerf training v2.0",
        "minutes", (4, 8, 16, 32, 64), (62.21, 33.45, 17.10, 9.79, 5.53), 128, 1.5, True,
    ),
    "llm_tokens": Table(
        "A language model, H100 of MareNostrum 5",
        "J. Torres, Supercomputing for Artificial Intelligence, chapter 15", "tokens/s",
        (1, 2, 4, 8, 16), (48229, 92376, 173728, 338376, 669904), 32, 1.25,
    ),
    "megascale": Table(
        "175 B parameters, batch 6,144, MegaScale", "arXiv 2402.15627, table 2",
        "seconds a step", (3072, 6144, 8192), (23.66, 12.21, 9.56), 12288, 1.3, True,
    ),
}  # fmt: skip
PACKED = (
    "c-n1JO^e$=4E-x2u=HY#KN7FIw-icmZ4WIyloGVI>=`ni2_q#YE&cD+jF;_Y4+bMYy$?PA*`5396p1~_q1rvc&*p"
    "KzFJSkXFuFS+OjqY%4A*C8{ao&T>9_wY^`S{S@B3QEM-OCYBL>0*Vh9|vyspBE3@)$~u!KkoKo98eidup78N!laQ"
    "w$5V4Sf3goj18lT~(*sJl9>)>YGYuU%Z+#=%%-|23)96_7Qv#lP1>-NPvB&g-H!aa3feL;fGbn-5%_MGqEOCNCB&"
    "%Y?7dEdswV<Hh7pLj+VSINW>et&4LCClaMbmo>d$AO=!VU35u$(w<wsRXw0h+r!Z~VbUOY(vJ&~1AS;*fP2cDe2E"
    "*x40&8;PiAEYB2Bw!Y9df8gSW||y{fsi0P0P9EB;iaxE7fgtICQ<vKjL7LyIcm;@R0i`;kb-w+&j*N2%d>E<7A`4"
    "6wAbg9xxrXgNGs=QIEwGEjqYhl+Ed&tPFIcxbbE$3(d#_I!ac$vQ2;35u6oq>X}3ooqq^BlCtG+udTBEO%VK(cA3"
    "59#;y7!X6<CqHO6~ZSGB+Y0ESQL?f"
)


def first(
    intervals: Mapping[str, tuple[float, float]], path: str | Path = NOTES
) -> dict[str, tuple[float, float]]:
    """Return the intervals as they were when the true values were shown for the first time."""
    counted = {}
    for name, ends in intervals.items():
        low, high = ends
        before = re.fullmatch(r"([\d.e+]+) to ([\d.e+]+)", str(said(f"foretold_{name}", path)))
        if before and before[0] != f"{low:g} to {high:g}":
            print(f"{name}: you have seen the true value. What counts is {before[0]}.")
            low, high = float(before[1]), float(before[2])
        counted[name] = (low, high)
    return counted


def reveal(name: str, low: float, high: float) -> bool:
    """Print the true value beside the interval. Return whether the interval contains it.

    Raise ValueError if the interval is too wide.
    """
    asked = TABLES[name]
    if not 0 < low <= high:
        raise ValueError(f"{name}: an interval has two ends above 0, the smaller one first")
    if asked.too_wide(low, high):
        raise ValueError(
            f"{name}: high is {high / low:.3g} times low, and at most {asked.widest:g} times is "
            "allowed. Narrow the interval before you see the true value"
        )
    truth, remark = json.loads(zlib.decompress(base64.b85decode(PACKED)))[name]
    held = low <= truth <= high
    print(f"{asked.title}: {truth:,g} {asked.what} on {asked.asked:,}.")
    verdict = "contains it" if held else f"is too {'high' if truth < low else 'low'}"
    print(f"   Your interval, {low:,g} to {high:,g}, {verdict}.\n   {remark}")
    return held
