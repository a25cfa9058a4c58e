"""Check the operations of a step (14.1), the roofline (14.2), and reading a trace (14.3, 14.4)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import compare, exercise, number

Function = Callable[..., Any]


@exercise("14.1")
def check_14_1(step_flops: Function) -> str:
    """1,000 parameters, 10 tokens and no layer need 60,000 operations."""
    for params, layers, width, length, tokens in ((1000, 0, 8, 4, 10), (5000, 5, 16, 32, 64)):
        what = f"step_flops({params}, {layers}, {width}, {length}, {tokens})"
        products, attention = 6 * params * tokens, 12 * layers * width * length * tokens
        mistakes = {
            products / 3 + attention / 3: "The backward pass costs as much as two forward passes.",
            products / 2 + attention / 2: "A multiplication and an addition are two operations.",
            2 * products / 3
            + attention: "The backward pass has two products for each one in the forward pass.",
            products: "Add the two products of attention, which have no parameters.",
            products + attention / 3: "Attention has a backward pass, too.",
            products + attention / 2: "Attention has two products: scores, and weighted values.",
            products + attention / length: "Each token is compared with all tokens of its window.",
            products + attention / layers
            if layers
            else -1.0: "Every layer has attention: multiply by the number of layers.",
        }
        found = number(step_flops(params, layers, width, length, tokens), what)
        compare(found, products + attention, what, mistakes)
    return "Your count is right: six operations per parameter and token, plus attention's products."


@exercise("14.2")
def check_14_2(attainable: Function) -> str:
    """A vector times a matrix reaches half a FLOP per byte times the bandwidth."""
    peak, rate = 1e11, 2e10
    for rows, inner, columns in ((1, 1000, 1000), (2000, 1000, 3000), (8, 16, 24)):
        what = f"attainable({rows}, {inner}, {columns}, 1e11, 2e10)"
        flops = 2 * rows * inner * columns
        sizes = (rows * inner, inner * columns, rows * columns)
        roof = flops / (4 * sum(sizes)) * rate
        mistakes = {
            min(peak, roof / 2): "A multiplication and an addition are two operations.",
            roof: "No product is faster than the peak: take the smaller number.",
            peak: "A product with few operations per byte is limited by the bandwidth.",
            flops / sum(sizes) * rate: "A float32 number has 4 bytes.",
            flops / (4 * sum(sizes[:2])) * rate: "The result is moved, too.",
            4 * sum(sizes) / flops * rate: "That is bytes per operation. Turn it around.",
        }
        right = min(peak, roof)
        mistakes.pop(right, None)
        compare(number(attainable(rows, inner, columns, peak, rate), what), right, what, mistakes)
    return "Small products are limited by the bandwidth, large ones by the peak."


CASES = [  # spans, the time that they cover, the sum of their times, from first to last
    ([(0, 2), (5, 6)], 3, 3, 6),
    ([(0, 4), (1, 2)], 4, 5, 4),
    ([(6, 9), (0, 2), (1, 3)], 6, 7, 9),
    ([], 0, 0, 0),
]


@exercise("14.3")
def check_14_3(busy: Function) -> str:
    """Spans from 0 to 4 and from 1 to 2 together cover 4, not 5."""
    for spans, right, total, whole in CASES:
        what = f"busy({spans})"
        mistakes = {
            float(total): "Time in which two spans overlap counts only once.",
            float(whole): "Time in which nothing runs does not count.",
        }
        otherwise = "Sort them by their start, and remember how far you have counted."
        compare(number(busy(list(spans)), what), right, what, mistakes, otherwise)
    return "Overlapping spans count once, and gaps do not count."


@exercise("14.4")
def check_14_4(hidden: Function) -> str:
    """For communication from 0 to 4 and computation from 3 to 9, a quarter is hidden."""
    cases = [
        ([(0, 4)], [(3, 9)], 1 / 4, 1 / 6),
        ([(0, 4)], [(4, 9)], 0.0, 0.0),
        ([(2, 3), (5, 7)], [(0, 10)], 1.0, 3 / 10),
        ([(0, 2), (1, 4)], [(1, 2), (1, 3)], 2 / 4, 1.0),
    ]
    for communication, computing, right, other in cases:
        what = f"hidden({communication}, {computing})"
        mistakes = {
            1 - right: "That is the part that is not hidden.",
            other: "Divide by the communication time, not by the computation time.",
        }
        mistakes.pop(right, None)
        otherwise = "The time of both = busy(one) + busy(other) - busy(all spans)."
        found = number(hidden(communication, computing), what)
        compare(found, right, what, mistakes, otherwise)
    compare(number(hidden([], [(0, 1)]), "hidden([], …)"), 1.0, "hidden([], …)")
    return "In the four cases, a quarter, none, all and half of the communication is hidden."
