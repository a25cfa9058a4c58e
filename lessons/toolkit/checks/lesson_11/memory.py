"""What a device holds (11.8), what to do where that is too much (11.8b), and pruning (11.8c)."""

from collections.abc import Callable, Mapping
from math import isinf
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.lesson_11.fitting import CASES, WAYS, needs, right_way, told
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]


@exercise("11.8")
def check_11_8(memory: ModuleType) -> str:
    """A million parameters with Adam: 4 + 4 + 8 MB, and the activations of every layer."""
    check_parts(memory.memory)
    check_activations(memory.activations)
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


def check_activations(activations: Function) -> None:
    sizes = [784, 256, 128, 64, 10]
    right = 32 * 4 * sum(sizes)
    mistakes = {
        right / 4: "Those are numbers: `itemsize` bytes each.",
        right / 32: "For every image of the batch.",
        32 * 4 * (sum(sizes) - 784): "The images are kept, too: layer 1's gradient needs them.",
        32 * 4 * (sum(sizes) - 10): "The scores are kept, too: the loss needs them.",
        32 * 4.0 * 784: "All layers keep what came in, not only the first or largest one.",
        2.0 * right - 32 * 4 * 794: "What a layer gives is what the next one takes: count it once.",
    }
    what = f"activations({sizes}, 32, 4)"
    compare(number(activations(list(sizes), 32, 4), what), right, what, mistakes)
    compare(
        number(activations(list(sizes), 32, 2), what), right / 2, f"activations({sizes}, 32, 2)"
    )
    for sizes, every in (
        ([784, 512, 512, 512, 512, 512, 512, 10], 3),
        ([9, 900, 900, 900, 9, 9], 2),
        ([9, 9, 9, 9, 900, 700], 2),
    ):
        begins, most = 0, 0
        for place in range(0, len(sizes) - 1, every):
            begins += sizes[place]
            most = max(most, begins + sum(sizes[place + 1 : place + every + 1]))
        kept = sum(sizes[:-1:every])
        largest = max(
            sum(sizes[place + 1 : place + every + 1]) for place in range(0, len(sizes) - 1, every)
        )
        given = sizes[:-1]
        inside = max(sum(given[i + 1 : i + every]) for i in range(0, len(given), every))
        mistakes = {
            float(kept + inside): "Inside a part are the outputs of all its layers, of the last "
            "one too: in the last part these are the scores.",
            float(
                sum(sizes)
            ): "With checkpoints only what goes into each part is kept all the time.",
            float(kept): "While a part goes back, all that is inside of it is there once more.",
            float(largest): "What goes into every part stays until its backward pass.",
            float(
                kept + largest
            ): "The last part goes back first, and what went into it is then gone: "
            "inputs of this part and of those before it, and what is inside of it.",
        }
        mistakes.pop(float(most), None)
        what = f"activations({sizes}, 1, 1, every={every})"
        compare(number(activations(list(sizes), 1, 1, every), what), most, what, mistakes)


@exercise("11.8b")
def check_11_8b(decisions: Mapping[str, str]) -> str:
    """For each case the first of the ways that fits, from what costs least to what costs most."""
    if not isinstance(decisions, Mapping) or set(decisions) != set(CASES):
        found = shown(decisions)
        raise CheckFailed(
            f"a word for each of {', '.join(CASES)}", found, "A dictionary, as above."
        )
    for name, case in CASES.items():
        way = decisions[name]
        if way not in WAYS:
            raise CheckFailed(
                f"case {name}: one of {', '.join(WAYS)}", shown(way), "Check the word."
            )
        much, right = needs(case, way), right_way(case)
        if way == right:
            continue
        has = f"a device has {told(case.device)}"
        if much > case.device:
            trained = "" if case.trains else " It is only used: no gradients, no optimizer."
            raise CheckFailed(
                f"case {name}: a way that fits; {has}",
                f"{way!r}: {needed(much)}",
                reason(way, case.devices) + trained,
            )
        raise CheckFailed(
            f"case {name}: the first way that fits",
            f"{way!r} fits with {told(much)}, and something that costs less fits as well",
            f"Try the ways before it, from the top; {has}.",
        )
    return "Six cases, each by its arithmetic."


def needed(much: float) -> str:
    return "no way here" if isinf(much) else f"the fullest device would need {told(much)}"


def reason(way: str, devices: int) -> str:
    if way in ("pipeline", "tensor") and devices == 1:
        return "There is one device: nothing can be cut for several."
    return {
        "data": "Copies divide no memory: each device holds all of the state.",
        "accumulate": "Smaller pieces help against activations, not against the state.",
        "pipeline": "A stage holds at least one layer: how large is the largest?",
        "offload": "Does the state fit into the host's memory?",
        "prune": "Training needs all of the state; pruning comes after it.",
    }[way]


@exercise("11.8c")
def check_11_8c(prune: Function) -> str:
    """The smallest magnitudes of both matrices together become 0, the others stay."""
    import torch

    weights = [
        torch.tensor([[0.1, -0.2, 3.0], [0.4, -5.0, 0.6]]),
        torch.tensor([[-7.0, 8.0], [9.0, -10.0]]),
    ]
    for share, zeros in ((0.5, 5), (0.3, 3), (0.8, 8)):
        given = [weight.clone() for weight in weights]
        found = prune(given, share)
        what = f"prune of 10 weights in two matrices, {share:.0%}"
        if found is None:
            raise CheckFailed(f"{what}: a list of two matrices", "None", "Is there a `return`?")
        shapes = [tuple(getattr(one, "shape", ())) for one in found]
        if shapes != [(2, 3), (2, 2)] or any(one.dtype == torch.bool for one in found):
            advice = "Return matrices as they came in, with zeros, not masks."
            raise CheckFailed(
                f"{what}: matrices of 2 × 3 and 2 × 2", " ".join(shown(found).split()), advice
            )
        if any(bool((a != b).any()) for a, b in zip(given, weights, strict=True)):
            advice = "Make new matrices: the next share begins from the same weights."
            raise CheckFailed(f"{what}: what came in is unchanged", "it was changed", advice)
        flat, old = (torch.cat([one.flatten() for one in each]) for each in (found, weights))
        right = torch.where(old.abs() > old.abs().sort().values[zeros - 1], old, 0.0)
        if bool((flat == right).all()):
            continue
        count, advice = int((flat == 0).sum()), "Compare magnitudes with one limit."
        gone = [round(value, 4) for value in flat.tolist()]
        largest = torch.where(old.abs() < old.abs().sort().values[-zeros], old, 0.0)
        by_value = torch.where(old > old.sort().values[zeros - 1], old, 0.0)
        if bool((flat == largest).all()):
            advice = "Those were the largest: what is small matters least."
        elif bool((flat == by_value).all()):
            advice = "-10 is large: compare `weight.abs()`."
        elif (flat[:6] == 0).sum() == round(6 * share) and (flat[6:] == 0).sum() == round(
            4 * share
        ):
            advice = "One limit for all matrices together: here all of the second are large."
        elif count == 10 - zeros:
            advice = "`share` is what goes, not what stays."
        elif count != zeros:
            advice = (
                "`share` is a share of how many there are, not of the largest: sort magnitudes."
            )
            if abs(count - zeros) == 1:
                advice = f"One too many or too few: is the limit itself removed? {advice}"
        wanted = [round(value, 4) for value in right.tolist()]
        raise CheckFailed(f"{what}: {wanted}", f"{gone}", advice)
    return "The smallest go, wherever they are."
