"""Checks of predicted efficiency (12.2), fits of laws (12.3), and their range (12.4)."""

import itertools
from collections.abc import Sequence

import numpy as np

from autograder.measuring import scaling_laws
from autograder.measuring.interval import Measure, exact
from lessons.toolkit.checks.shared.check import Function, compare, exercise, number, pair

SIZES = [1, 2, 4, 8, 16]


def points(gains: Sequence[float]) -> list[tuple[float, Measure]]:
    return [(p, exact(gain)) for p, gain in zip(SIZES, gains, strict=True)]


@exercise("12.2")
def check_12_2(efficiency: Function) -> str:
    """Without an exchange every efficiency is 1; with one, strong scaling loses most."""
    for kind, p, step, exchange in (
        ("epoch", 4, 0.3, 0.1), ("weak", 4, 0.3, 0.1), ("strong", 4, 0.4, 0.1),
        ("strong", 16, 0.4, 0.0), ("weak", 16, 0.2, 0.2), ("strong", 1, 0.4, 0.0),
    ):  # fmt: skip
        work = step / p if kind == "strong" else step
        other = step if kind == "strong" else step / p
        right = work / (work + exchange)
        what = f'efficiency("{kind}", {p}, {step}, {exchange})'
        mistakes = {
            other / (other + exchange): "How many images does a rank compute in a step of this "
            "kind? Look at the table of the three kinds.",
            p * right: "That is the speedup. Divide it by p.",
            1 / right: "That is how many times longer it takes.",
        }
        advice = "Compare p ranks with one: seconds of a step, times the steps of an epoch."
        compare(number(efficiency(kind, p, step, exchange), what), right, what, mistakes, advice)
    return "In strong scaling the exchange stays, and the work of a rank shrinks."


@exercise("12.3")
def check_12_3(amdahl_f: Function, gustafson_s: Function, fixed_and_divided: Function) -> str:
    """The fit finds the parameter of a law from its points; with noise, by least squares."""
    noise = [1 + 0.05 * (-1) ** i if i else 1.0 for i in range(len(SIZES))]
    gains = [each / (0.03 + 0.97 / p) for p, each in zip(SIZES, noise, strict=True)]
    e = [(1 / g - 1 / p) / (1 - 1 / p) for p, g in zip(SIZES[1:], gains[1:], strict=True)]
    mistakes = {
        e[-1]: "That is the largest size alone.",
        sum(e) / len(e): "That is the mean of the Karp–Flatt values e. In least squares, each size "
        "has the weight x².",
    }
    one_fit(amdahl_f, "amdahl_f", gains, scaling_laws.amdahl, mistakes)
    gains = [each * (p - 0.2 * (p - 1)) for p, each in zip(SIZES, noise, strict=True)]
    s = scaling_laws.gustafson(points(gains)).value
    mistakes = {
        scaling_laws.amdahl(points(gains)).value: "That is Amdahl's f, not Gustafson's s.",
        1 - s: "Which part of the time does not grow, s or 1 − s?",
    }
    one_fit(gustafson_s, "gustafson_s", gains, scaling_laws.gustafson, mistakes)
    seconds = [each * (30 + 500 / p) for p, each in zip(SIZES, noise, strict=True)]
    b, a = np.polyfit(1 / np.array(SIZES), seconds, 1)
    found = pair(fixed_and_divided(list(SIZES), seconds), "fixed_and_divided(…)", ("a", "b"))
    advice = "Use least squares over all sizes, not two of the points. What is x in this law?"
    what = f"T = {', '.join(f'{t:.4g}' for t in seconds)} s on {', '.join(map(str, SIZES))}"
    compare(found[0], a, f"a for {what}", {b: "Return a, the constant part, first."}, advice)
    compare(found[1], b, f"b for {what}", {}, advice)
    return "All three fits use every size."


def one_fit(
    function: Function, name: str, gains: list[float], law: Function, wrong: dict[float, str]
) -> None:
    told = ", ".join(f"{gain:.3g}" for gain in gains)
    what = f"{name} of S = {told} on {', '.join(map(str, SIZES))}"
    advice = "Write the law as y = f·(p − 1). Then fit the slope by least squares, over "
    advice += "all sizes."
    found = number(function(list(SIZES), list(gains)), what)
    compare(found, law(points(gains)).value, what, wrong, advice)


STUDIES = (  # σ and κ of speedups, and what to try if the USL is fitted otherwise
    (0.02, 0.0005, "Write the law as y = σ·(p − 1) + κ·x. Fit σ and κ by least squares."),
    (0.05, -0.001, "Here the free fit has κ < 0. With κ = 0 the best σ is a different one: which "
     "law is left?"),
    (-0.01, 0.002, "Here the free fit has σ < 0. With σ = 0 the best κ is a different one."),
)  # fmt: skip
THREE = "Amdahl's, Gustafson's and the USL's answers"


@exercise("12.4")
def check_12_4(usl: Function, at: Function) -> str:
    """σ and κ are recovered, κ is never below 0, and a range has the lowest and the highest law."""
    for sigma, kappa, advice in STUDIES:
        gains = [p / (1 + sigma * (p - 1) + kappa * p * (p - 1)) for p in SIZES]
        found = pair(usl(list(SIZES), list(gains)), "usl(…)", ("sigma", "kappa"))
        told = f"of S = {', '.join(f'{gain:.3g}' for gain in gains)}"
        for value, right, name in zip(found, scaling_laws.usl(points(gains)), "σκ", strict=True):
            compare(value, right, f"{name} {told}", {}, advice)
    for (sigma, kappa, _), p in itertools.product(STUDIES[:2], (64, 1024)):
        gains = [n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in SIZES]
        low, high = pair(at(list(SIZES), list(gains), p), f"at(…, {p})")
        lowest, highest = (
            end(points(gains), p).value for end in (scaling_laws.lowest, scaling_laws.highest)
        )
        mistakes = {highest: "Low comes first."}
        compare(low, lowest, f"low end of at(…, {p})", mistakes, f"The smallest of {THREE}.")
        compare(high, highest, f"high end of at(…, {p})", {}, f"The largest of {THREE}.")
    return "A prediction beyond the data has a range."
