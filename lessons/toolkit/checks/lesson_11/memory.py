"""The check of a device's memory during training (11.8)."""

from collections.abc import Callable, Mapping
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]


@exercise("11.8")
def check_11_8(memory: Function) -> str:
    """A million parameters with Adam: 4 + 4 + 8 MB, and the activations in addition."""
    check_parts(memory)
    return "Parameters, gradients, optimizer and activations, each with its bytes."


PARTS = ("parameters", "gradients", "optimizer", "activations")
MEMORY_CASES = [  # optimizer, precision -> bytes of each for one parameter
    ("sgd", "float32", (4, 4, 0)),
    ("momentum", "float32", (4, 4, 4)),
    ("adam", "float32", (4, 4, 8)),
    ("sgd", "mixed", (2, 2, 4)),
    ("momentum", "mixed", (2, 2, 8)),
    ("adam", "mixed", (2, 2, 12)),
]


def check_parts(memory: Function) -> None:
    for optimizer, precision, each in MEMORY_CASES:
        what = f'memory(1000, "{optimizer}", 77, "{precision}")'
        found = memory(1000, optimizer, 77, precision)
        if not isinstance(found, Mapping) or not set(PARTS) <= set(found):
            raise CheckFailed(
                f"{what}: a dictionary of {', '.join(PARTS)}", shown(found), "Return it."
            )
        for part, right in zip(PARTS, (*(1000 * item for item in each), 77), strict=True):
            mistakes = {
                1000.0: "Those are numbers: how many bytes has each?",
                0.0: "It is not empty.",
                -1.0: "",
            }
            if part == "optimizer":
                mistakes[0.0] = "Momentum keeps one number for each parameter, Adam two."
                if optimizer == "adam":
                    mistakes[4000.0] = (
                        "Adam keeps two numbers: means of gradient and of its square."
                    )
                    mistakes[16000.0] = "Parameters and gradients have parts of their own."
                if precision == "mixed":
                    mistakes[4000.0 * {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]] = (
                        "bfloat16 parameters are too coarse for small steps: the optimizer keeps a "
                        "float32 copy of them as well, 4 bytes more each."
                    )
                    halves = "The optimizer's own numbers stay float32: 4 bytes each."
                    mistakes.setdefault(right / 2, halves)
            if part == "gradients":
                mistakes[0.0] = "The backward pass leaves one number for each parameter."
            if part in ("parameters", "gradients") and precision == "mixed":
                mistakes[4000.0] = "A bfloat16 number has 2 bytes."
            mistakes.pop(float(right), None)
            name = f"{what}[{part!r}]"
            compare(number(found[part], name), right, name, mistakes, "Bytes, not numbers.")
