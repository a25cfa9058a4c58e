"""Checks of Karp–Flatt and the ring (12.2), fits of laws (12.3), and their range (12.4)."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from autograder.measuring import scaling_laws
from autograder.measuring.interval import exact
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, pair

Function = Callable[..., Any]

SIZES = (1, 2, 4, 8, 16)
LEFT_OVER = {"amdahl_f": "p/S − 1", "gustafson_s": "p − S"}  # y of the points of a line through 0
BRACKETS = "Put brackets around both differences: (1/S − 1/p) / (1 − 1/p)."
THREE = "Amdahl's, Gustafson's and the USL's answers"


def made(law: Callable[[int], float]) -> list[float]:
    return [law(p) for p in SIZES]


@exercise("12.2")
def check_12_2(karp_flatt: Function, ring_s: Function) -> str:
    """Amdahl's law with f = 0.1 gives e = 0.1 at every size. A ring of 1 rank takes no time."""
    for p in (2, 4, 64):
        gain = 1 / (0.1 + 0.9 / p)
        compare(
            number(karp_flatt(gain, p), f"karp_flatt({gain:.4g}, {p})"),
            0.1,
            f"karp_flatt({gain:.4g}, {p})",
            {
                1 / gain - 1 / p: "Divide by the largest possible value: 1 − 1/p.",
                (gain - p) / (1 - p): "That is Gustafson's fraction: begin with 1/S − 1/p.",
                1 - gain / p: "That is 1 minus the efficiency: use (1/S − 1/p) / (1 − 1/p).",
                0.9: "That is the parallel part: 1/S comes first, then 1/p.",
                -0.1: "The order is wrong: 1/S − 1/p.",
                1 / gain - 2 / p: BRACKETS,
                1 / gain - 1 / (p - 1): BRACKETS,
            },
            "(1/S − 1/p) / (1 − 1/p).",
        )
    alpha, rate, size = 5e-6, 2e10, 1e8
    for p in (64, 2, 1):
        right = 2 * (p - 1) * alpha + 2 * (p - 1) / p * size / rate
        compare(
            number(ring_s(p, size, alpha, rate), f"ring_s({p}, …)"),
            right,
            f"ring_s({p}, 1e8, 5e-6, 2e10)",
            {
                2 * (p - 1) * (alpha + size / rate): "Each message is a chunk of n/p bytes.",
                (p - 1) * alpha
                + (p - 1) / p * size / rate: "There are two rounds: reduce, then gather.",
                2 * (p - 1) / p * size / rate: "The latency of 2(p−1) messages is missing.",
                2 * (p - 1) * alpha + 2 * size / rate: "A rank keeps its own part: (p−1)/p of n.",
                2 * p * alpha + 2 * (p - 1) / p * size / rate: "2(p−1) messages, not 2p.",
                2 * p * (alpha + size / rate): "That is one parameter server, as in lesson 06.",
            },
            "2(p−1)·α + 2(p−1)/p · n/B, as in lesson 06.",
        )
    return (
        "For a serial part of 0.1, the result is 0.1 on 2, 4 and 64 ranks. The time of the ring "
        "grows with the number of messages."
    )


@exercise("12.3")
def check_12_3(amdahl_f: Function, gustafson_s: Function, fixed_and_divided: Function) -> str:
    """The fit finds the parameter of a law from its points; with noise, by least squares."""
    f, s = 0.03, 0.2
    exactly = made(lambda p: 1 / (f + (1 - f) / p))
    one_fit(amdahl_f, "amdahl_f", exactly, f, amdahl_mistakes(exactly))
    noisy = [gain * (1 + 0.04 * (-1) ** i) if i else 1.0 for i, gain in enumerate(exactly)]
    right = scaling_laws.amdahl([(p, exact(g)) for p, g in zip(SIZES, noisy, strict=True)]).value
    one_fit(amdahl_f, "amdahl_f", noisy, right, amdahl_mistakes(noisy))
    exactly = made(lambda p: p - s * (p - 1))
    one_fit(gustafson_s, "gustafson_s", exactly, s, {1 - s: "S = p − s(p−1): return s, not 1 − s."})
    noisy = [gain * (1 - 0.04 * (-1) ** i) if i else 1.0 for i, gain in enumerate(exactly)]
    right = scaling_laws.gustafson([(p, exact(g)) for p, g in zip(SIZES, noisy, strict=True)]).value
    as_amdahl = scaling_laws.amdahl([(p, exact(g)) for p, g in zip(SIZES, noisy, strict=True)])
    mistakes = {
        as_amdahl.value: "That is Amdahl's f. For Gustafson's s, fit y = p − S against x = p − 1."
    }
    one_fit(gustafson_s, "gustafson_s", noisy, right, mistakes)
    a, b = 30.0, 500.0
    seconds = made(lambda p: a + b / p)
    found = pair(fixed_and_divided(list(SIZES), seconds), "fixed_and_divided(…)", ("a", "b"))
    if abs(found[0] - b) < 1 and abs(found[1] - a) < 1:
        raise CheckFailed("a = 30 s, b = 500 s", "swapped", "Return a, the constant part, first.")
    compare(
        found[0], a, "a for T = 30 + 500/p", {}, "Fit a straight line in 1/p: a is its intercept."
    )
    compare(
        found[1], b, "b for T = 30 + 500/p", {}, "Fit a straight line in x = 1/p: b is its slope."
    )
    noisy = [t * (1 + 0.05 * (-1) ** i) for i, t in enumerate(seconds)]
    fixed, divided = line([1 / p for p in SIZES], noisy)
    found = pair(fixed_and_divided(list(SIZES), noisy), "fixed_and_divided(…)", ("a", "b"))
    told = ", ".join(f"{t:.4g}" for t in noisy)
    advice = "Use least squares over all sizes, np.polyfit(1/p, T, 1), not two of the points."
    compare(found[0], fixed, f"a for T = {told} s on {', '.join(map(str, SIZES))}", {}, advice)
    compare(found[1], divided, f"b for T = {told} s on {', '.join(map(str, SIZES))}", {}, advice)
    return "The fits recover f = 0.03, s = 0.2, a = 30 s and b = 500 s from points on the curves."


def line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the intercept and the slope of the least-squares line."""
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    slope /= sum((a - x) ** 2 for a in xs)
    return y - slope * x, slope


def one_fit(
    function: Function, name: str, gains: Sequence[float], right: float, mistakes: dict[float, str]
) -> None:
    found = number(function(list(SIZES), list(gains)), f"{name}(…)")
    told = ", ".join(f"{gain:.3g}" for gain in gains)
    compare(
        found,
        right,
        f"{name} of S = {told} on {', '.join(map(str, SIZES))}",
        mistakes,
        "Fit a line through 0 by least squares: sum(x·y) / sum(x·x), with x = p − 1 and y = "
        f"{LEFT_OVER[name]}, over all sizes.",
    )


def amdahl_mistakes(gains: Sequence[float]) -> dict[float, str]:
    last, beyond = (
        (gains[-1], SIZES[-1]),
        [(p, g) for p, g in zip(SIZES, gains, strict=True) if p > 1],
    )
    ones = [(1 / g - 1 / p) / (1 - 1 / p) for p, g in beyond]
    return {
        (1 / last[0] - 1 / last[1]) / (1 - 1 / last[1]): "That is the largest size alone.",
        sum(ones)
        / len(ones): "That is the mean of the Karp–Flatt values e. In least squares, each "
        "size has the weight x².",
    }


def usl_of(sigma: float, kappa: float) -> Callable[[int], float]:
    return lambda p: p / (1 + sigma * (p - 1) + kappa * p * (p - 1))


@exercise("12.4")
def check_12_4(usl: Function, at: Function) -> str:
    """σ and κ are recovered, κ is never below 0, and a range has the lowest and the highest law."""
    for sigma, kappa in ((0.02, 0.0005), (0.0, 0.002), (0.05, 0.0)):
        gains = made(usl_of(sigma, kappa))
        found = pair(usl(list(SIZES), gains), "usl(…)", ("sigma", "kappa"))
        for value, right, name in zip(found, (sigma, kappa), ("sigma", "kappa"), strict=True):
            if abs(value - right) > 2e-5:
                advice = "Use least squares of p/S − 1 = σ(p−1) + κp(p−1): two columns, lstsq."
                raise CheckFailed(f"{name} = {right}", f"{value:.4g}", advice)
    falls = made(usl_of(0.05, -0.001))
    sigma, kappa = pair(usl(list(SIZES), falls), "usl(…)", ("sigma", "kappa"))
    alone = scaling_laws.usl([(p, exact(g)) for p, g in zip(SIZES, falls, strict=True)])
    if kappa < 0:
        advice = "Where the free fit has κ < 0, take κ = 0 and fit σ alone, which is Amdahl's law."
        raise CheckFailed("kappa is never below 0", f"{kappa:.4g}", advice)
    if abs(sigma - alone[0]) > 1e-3 * alone[0] or kappa != 0:
        advice = (
            "With κ = 0, the best σ is a different one. Fit σ again, with one column; that "
            "is what amdahl_f(…) does."
        )
        raise CheckFailed(f"sigma = {alone[0]:.4g}, kappa = 0", f"{sigma:.4g}, {kappa:.4g}", advice)
    gains = made(usl_of(-0.01, 0.002))
    sigma, kappa = pair(usl(list(SIZES), gains), "usl(…)", ("sigma", "kappa"))
    alone = scaling_laws.usl([(p, exact(g)) for p, g in zip(SIZES, gains, strict=True)])
    if sigma != 0 or abs(kappa - alone[1]) > 1e-3 * alone[1]:
        advice = "Where the free fit has σ < 0, set σ = 0 and fit κ again: one column, p(p−1)."
        raise CheckFailed(f"sigma = 0, kappa = {alone[1]:.4g}", f"{sigma:.4g}, {kappa:.4g}", advice)
    # Where κ is above 0 the three laws are three curves, and the USL is the lowest of them. In the
    # last study a free κ would be below it, and its USL the highest by far, or negative.
    studies = (made(lambda p: 1 / (0.03 + 0.97 / p)), made(usl_of(0.01, 0.0008)), falls)
    for gains, p in itertools.product(studies, (64, 1024)):
        points = [(p, exact(g)) for p, g in zip(SIZES, gains, strict=True)]
        ends = tuple(of(points, p).value for of in (scaling_laws.lowest, scaling_laws.highest))
        low, high = pair(at(list(SIZES), gains, p), f"at(…, {p})")
        mistakes = {ends[1]: "Low comes first."}
        compare(low, ends[0], f"low end of at(…, {p})", mistakes, f"The smallest of {THREE}.")
        compare(high, ends[1], f"high end of at(…, {p})", {}, f"The largest of {THREE}.")
    return (
        "κ is 0 where a free fit would make it negative, and a prediction beyond the data has a "
        "range."
    )
