"""The scaling laws, each expressed as the cost of the work on n workers: n × its time.

Cost laws: cost = b + k₁·t₁(n) + k₂·t₂(n) with no negative term. Gustafson's law describes the
speed: speed = a + d·n, so cost = n / (a + d·n). The power law: cost = b·n^γ. Each law states its
assumption in a sentence. The `fitting` module decides whether the data agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Form:
    """A law: its formula, its assumption, and its parameters from the fitted coefficients."""

    name: str
    formula: str
    assumes: str
    terms: tuple[Callable[[Array], Array], ...] = ()  # functions of n
    kind: str = "cost"  # cost, speed or power
    named: Callable[[Array], Mapping[str, float]] = field(default=lambda _: {})
    is_step: bool = False  # whether the cost rises where a node ends


def shares(*names: str) -> Callable[[Array], Mapping[str, float]]:
    """Return a function that divides the other coefficients by the one for work and names them."""

    def named(k: Array) -> Mapping[str, float]:
        rest = zip(names, k[1:], strict=True)
        return {name: float(value / k[0]) for name, value in rest} if k[0] else {}

    return named


AMDAHL = Form(
    "Amdahl",
    "S = 1 / (f + (1−f)/p)",
    "one worker alone does a fraction f of fixed work, and the rest divides evenly; the same law "
    "as T = a + b/p, where a stays the same and b is divided",
    (lambda n: n,),
    named=lambda k: {"f": float(k[1] / (k[0] + k[1]))},
)
GUSTAFSON = Form(
    "Gustafson",
    "S = p − s(p−1)",
    "the work grows with p, and the part that cannot be divided always takes the same time",
    (lambda n: n,),
    kind="speed",
    named=lambda k: {"s": float(k[0] / (k[0] + k[1]))},
)
USL = Form(
    "USL",
    "S = p / (1 + σ(p−1) + κp(p−1)), σ, κ ≥ 0",
    "workers wait for a shared resource (σ), and each exchanges data with all others (κ), so "
    "there is a peak",
    (lambda n: n - 1, lambda n: n * (n - 1)),
    named=shares("sigma", "kappa"),
)
TREE = Form(
    "tree",
    "cost = 1 + k·log₂ p",
    "messages that go up and down a tree (α–β model with log₂ p levels), plus work that stays the "
    "same for each worker",
    (np.log2,),
    named=shares("k"),
)
TREE_FIXED = Form(
    "tree, fixed work",
    "cost = 1 + k·p·log₂ p",
    "the same tree plus fixed work: each worker does less of it, but sends as many messages",
    (lambda n: n, lambda n: n * np.log2(n)),
    named=shares("c", "k"),
)
RING = Form(
    "ring",
    "cost = 1 + c·(1 − 1/p) + k·p",
    "each worker of a ring sends 2(p−1)/p of the bytes, in 2(p−1) messages (α–β model)",
    (lambda n: 1 - 1 / n, lambda n: n),
    named=shares("c", "k"),
)
LEVELS_AND_SHARE = Form(
    "tree and share",
    "cost = 1 + k·log₂ p + c·p",
    "the messages of a tree, plus a fraction of the work that cannot be divided",
    (np.log2, lambda n: n),
    named=shares("k", "c"),
)
POWER = Form(
    "power",
    "cost = p^γ",
    "no mechanism: each doubling of p loses the same fraction",
    kind="power",
    named=lambda k: {"gamma": float(k[1])},
)
FORMS = (AMDAHL, GUSTAFSON, USL, TREE, TREE_FIXED, RING, LEVELS_AND_SHARE, POWER)


def stepped(node: int) -> tuple[Form, ...]:
    """Return laws whose cost rises beyond `node` workers, the size of one node."""

    def outside(n: Array) -> Array:
        return (n > node).astype(float)

    name, says = f"step beyond {node}", f"work costs more beyond {node} workers, those of one node"
    return (
        Form(
            name,
            f"cost = 1 + j·[p > {node}] + k·log₂ p",
            f"{says}, and each doubling costs as much as the one before",
            (outside, np.log2),
            named=shares("j", "k"),
            is_step=True,
        ),
        Form(
            f"{name}, share",
            f"cost = 1 + j·[p > {node}] + c·p",
            f"{says}, and a fraction does not divide",
            (outside, lambda n: n),
            named=shares("j", "c"),
            is_step=True,
        ),
    )
