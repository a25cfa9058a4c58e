"""Check the bytes of state per rank (13.1) and of all tensors on a device (13.10)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]
GB = 1e9
PARTS = ("parameters", "gradients", "optimizer")
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "recompute": 3}
EACH = {"float32": (4, 4, 8), "mixed": (2, 2, 12)}  # bytes of a parameter, by part
SHARED_FROM = dict(zip(PARTS, (3, 2, 1), strict=True))  # the first stage that shards it


def state(params: float, way: str, ranks: int, precision: str) -> dict[str, float]:
    """Return how many bytes each part of the state takes on one rank."""
    return {
        part: each * params / (ranks if STAGES[way] >= SHARED_FROM[part] else 1)
        for part, each in zip(PARTS, EACH[precision], strict=True)
    }


@exercise("13.1")
def check_13_1(state_bytes: Function) -> str:
    """A million parameters, ZeRO 2 on 5 ranks: 4 MB of them, 0.8 of gradients, 1.6 of Adam's."""
    n = 1e6
    for precision in EACH:
        for way in ("ddp", "zero1", "zero2", "zero3"):
            for ranks in (5, 1):
                what = f'state_bytes({n:g}, "{way}", {ranks}, "{precision}")'
                found = state_bytes(n, way, ranks, precision)
                if not isinstance(found, Mapping) or not set(PARTS) <= set(found):
                    wanted = f"{what}: a dictionary of {', '.join(PARTS)}"
                    raise CheckFailed(wanted, shown(found), "Return it.")
                right = state(n, way, ranks, precision)
                for part in PARTS:
                    name = f'{what}["{part}"]'
                    mistakes = wrong_parts(part, right[part], n, way, ranks, precision)
                    compare(number(found[part], name), right[part], name, mistakes)
    return "Stage 1 shards the optimizer state, 2 also the gradients, and 3 also the parameters."


def wrong_parts(
    part: str, right: float, n: float, way: str, ranks: int, precision: str
) -> dict[float, str]:
    """Return the results that known mistakes would give, with advice for each."""
    is_shared = STAGES[way] >= SHARED_FROM[part]
    wrong = {
        right * ranks: f"{way} shards the {part}: a rank has one part of {ranks}.",
        right / ranks: f"{way} does not shard the {part}: every rank has all of them.",
    }
    whole = right * ranks if is_shared else right
    share = ranks if is_shared else 1
    if part == "optimizer":
        wrong[4 * n / share] = "Adam keeps two numbers per parameter: two running means."
        if precision == "mixed":
            wrong[8 * n / share] = "With bfloat16 parameters there is a float32 copy as well."
            wrong[whole / 2 / share] = "The optimizer's own numbers stay float32."
    elif precision == "mixed":
        wrong[2 * whole / share] = "A bfloat16 number has 2 bytes."
    wrong[n / share] = "That counts numbers. How many bytes does each one take?"
    wrong.pop(right, None)
    return wrong


@dataclass(frozen=True)
class Network:
    """A network with the fields of the lesson's `networks.py`."""

    params: float
    largest: float
    precision: str
    blocks: int
    block_bytes: float
    input_bytes: float
    batch: int
    devices: int
    device_bytes: float = 40 * GB


WHOLE = {  # stage -> what a device holds in addition to its state
    2: "A unit's gradients have their full size until they are reduced, so add the gradients of "
    "the largest unit.",
    3: (
        "While a unit computes, all of its parameters and gradients are on the device: add those "
        "of the largest unit."
    ),
}
# Networks that are not in the lesson.
CASES = (
    Network(4e9, 0.2e9, "mixed", 30, 0.1 * GB, 0.01 * GB, 3, 4),
    Network(1e9, 0.05e9, "float32", 24, 0.05 * GB, 0.004 * GB, 8, 2),
)


@exercise("13.10")
def check_13_10(needs: Function) -> str:
    """4 billion parameters, ZeRO 3 on 4 devices: 16 GB of state, 0.8 of a unit, and activations."""
    for case in CASES:
        for way in STAGES:
            right = bytes_needed(case, way)
            found = number(needs(case, way), f"needs(network, {way!r})")
            if abs(found - right) > 1e-6 * right:
                raise CheckFailed(
                    f"{described(case)}: {way!r} needs {amount(right)}",
                    amount(found),
                    why_wrong(case, way, found),
                )
    return "Your bytes for state, unit and activations are right, for two networks and five ways."


def state_of(case: Network, way: str) -> float:
    return sum(state(case.params, way, case.devices, case.precision).values())


def unit_of(case: Network, way: str) -> float:
    """Return the bytes of the largest gathered unit, without the state's shards."""
    item = {"float32": 4, "mixed": 2}[case.precision]
    return {2: 1, 3: 2}.get(STAGES[way], 0) * item * case.largest


def activations_of(case: Network, way: str) -> float:
    if way == "recompute":
        return case.batch * (case.blocks * case.input_bytes + case.block_bytes)
    return case.batch * case.blocks * case.block_bytes


def bytes_needed(case: Network, way: str) -> float:
    """Return the bytes on each device."""
    return state_of(case, way) + unit_of(case, way) + activations_of(case, way)


def why_wrong(case: Network, way: str, found: float) -> str:
    """Return the usual mistake that gives this result, if there is one."""
    right, unit, kept = bytes_needed(case, way), unit_of(case, way), activations_of(case, way)
    full = activations_of(case, "zero3")
    mistakes = [
        (right - kept, "The activations are missing."),
        (right - kept + kept / case.batch, "Each text of the batch has its own activations."),
        (kept + unit, "The state is missing."),
        (
            state_of(case, "ddp") + kept + unit,
            "A device holds only its share of the state: pass `way` to state.state_bytes.",
        ),
    ]
    if unit:
        mistakes.append((right - unit, WHOLE[STAGES[way]]))
    if STAGES[way] == 3:
        mistakes.append(
            (right - unit / 2, "The unit's parameters and gradients both have their full size.")
        )
    if way == "recompute":
        mistakes += [
            (
                right - kept + full,
                "Count only the inputs of the blocks, plus all activations of one block.",
            ),
            (
                right - case.batch * case.block_bytes,
                "While a block is computed again, all of its activations are in memory.",
            ),
        ]
    for mistake, advice in mistakes:
        if abs(found - mistake) <= 1e-6 * max(abs(found), 1.0):
            return advice
    return "Compare with this way's row in the table; state.state_bytes gives the three parts."


def described(case: Network) -> str:
    return (
        f"{case.params / 1e9:g} billion parameters, {case.precision}, {case.blocks} blocks, "
        f"{case.devices} devices, {case.batch} texts"
    )


def amount(much: float) -> str:
    return f"{much / GB:.4g} GB"
