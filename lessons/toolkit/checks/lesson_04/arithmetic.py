"""Check epoch times (4.4) and a network's consumption per second (4.5)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import compare, exercise, number

Function = Callable[..., Any]

EPOCHS = [(0.6, 0.5), (0.5, 2.0), (3.0, 1.0), (1.0, 1.0)]


@exercise("4.4")
def check_4_4(epoch_seconds: Function) -> str:
    """An epoch takes the sum of input and computing time, or the longer one if they overlap."""
    for t_in, t_comp in EPOCHS:
        for overlapped in (True, False):
            right = max(t_in, t_comp) if overlapped else t_in + t_comp
            other = t_in + t_comp if overlapped else max(t_in, t_comp)
            what = f"epoch_seconds({t_in}, {t_comp}, {overlapped})"
            compare(
                number(epoch_seconds(t_in, t_comp, overlapped), what),
                right,
                what,
                {
                    other: "If they overlap, the longer time hides the shorter. One after the "
                    "other, they add up. Does each of the two cases have its own `return`?",
                    min(t_in, t_comp): "No epoch ends before both input and computing end.",
                    (t_in + t_comp) / 2: "Neither the input time nor the computing time is halved.",
                    abs(t_in - t_comp): "The shorter time is hidden, not subtracted.",
                },
                "Use the maximum if input and computing overlap, and the sum if they do not.",
            )
    return "Input takes 0.6 s and computing 0.5 s: 1.1 s one after the other, 0.6 s overlapped."


@exercise("4.5")
def check_4_5(gigabytes_per_s: Function, gigaflops: Function) -> str:
    """a + b moves three arrays of float32; a product of n by n matrices is 2 n³ operations."""
    for n, seconds in ((100_000_000, 0.12), (1_000_000, 0.0004)):
        right = 12 * n / seconds / 1e9
        compare(
            number(gigabytes_per_s(n, seconds), f"gigabytes_per_s({n}, {seconds})"),
            right,
            f"gigabytes_per_s({n}, {seconds})",
            {
                right / 3: "Three arrays move: two are read, one is written.",
                right * 2 / 3: "The result is written too: three arrays.",
                right * 2: "A float32 has 4 bytes; a float64 has 8.",
                right / 4: "A float32 has 4 bytes.",
                right * 1e9: "Giga: divide by 1e9.",
                right * 1e9 / 2**30: "GB is 10⁹ bytes; 2³⁰ is a GiB.",
                12 * n * seconds / 1e9: "Bytes per second: divide by the seconds.",
            },
        )
    for n, seconds in ((2048, 0.2), (1000, 0.04)):
        right = 2 * n**3 / seconds / 1e9
        compare(
            number(gigaflops(n, seconds), f"gigaflops({n}, {seconds})"),
            right,
            f"gigaflops({n}, {seconds})",
            {
                right / 2: "Each of the n³ products has two operations: multiply and add.",
                2 * n**2 / seconds / 1e9: "n² results, and each is a sum of n products.",
                n**2 / seconds / 1e9: "n² results, and each is a sum of n products.",
                right * 1e9: "Giga: divide by 1e9.",
                right / 1e3: "Giga is 10⁹; 10¹² is tera.",
            },
        )
    return "10 GB/s, and 86 GFLOP/s for n = 2,048 in 0.2 s."
