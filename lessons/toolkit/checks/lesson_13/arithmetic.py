"""Check the bytes of state per rank (13.1) and of all tensors on a device (13.10)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lessons.toolkit.checks.shared.check import compare, exercise, number

Function = Callable[..., Any]
GB = 1e9
PARTS = ("parameters", "gradients", "optimizer")
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "recompute": 3}
EACH = {"float32": (4, 4, 8), "mixed": (2, 2, 12)}  # bytes of a parameter, by part
SHARED_FROM = dict(zip(PARTS, (3, 2, 1), strict=True))  # the first stage that shards it


@exercise("13.1")
def check_13_1(state_bytes: Function) -> str:
    """A million parameters, ZeRO 2 on 5 ranks: 4 MB of them, 0.8 of gradients, 1.6 of Adam's."""
    n, ranks = 1e6, 5
    for precision, sizes in EACH.items():
        for way in ("ddp", "zero1", "zero2", "zero3"):
            found = state_bytes(n, way, ranks, precision)
            for part, each in zip(PARTS, sizes, strict=True):
                shared = STAGES[way] >= SHARED_FROM[part]
                share = ranks if shared else 1
                words = f"{way} shards" if shared else f"{way} does not shard"
                mistakes = {
                    each * n * share / ranks: f"{words} the {part}.",
                    n / share: "That counts numbers. How many bytes does each one take?",
                    4 * n / share: "A bfloat16 number has 2 bytes.",
                }
                if part == "optimizer":
                    mistakes |= {
                        4 * n / share: "Adam keeps two numbers per parameter: two running means.",
                        8 * n / share: "With bfloat16 parameters there is a float32 copy as well.",
                    }
                name = f'state_bytes({n:g}, "{way}", {ranks}, "{precision}")["{part}"]'
                compare(number(found[part], name), each * n / share, name, mistakes)
    return "Stage 1 shards the optimizer state, 2 also the gradients, and 3 also the parameters."


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


# Networks that are not in the lesson.
CASES = (
    Network(4e9, 0.2e9, "mixed", 30, 0.1 * GB, 0.01 * GB, 3, 4),
    Network(1e9, 0.05e9, "float32", 24, 0.05 * GB, 0.004 * GB, 8, 2),
)
UNIT = {
    2: "A unit's gradients have their full size until they are reduced, so add the gradients of "
    "the largest unit.",
    3: "While a unit computes, all of its parameters and gradients are on the device: add those of "
    "the largest unit.",
}


def terms(case: Network, way: str) -> tuple[float, float, float]:
    """Return the bytes on each device of state, of the largest gathered unit, of activations."""
    stage, each = STAGES[way], dict(zip(PARTS, EACH[case.precision], strict=True))
    state = sum(
        each[part] * case.params / (case.devices if stage >= SHARED_FROM[part] else 1)
        for part in PARTS
    )
    unit = {2: 1, 3: 2}.get(stage, 0) * each["parameters"] * case.largest
    kept = case.blocks * case.block_bytes
    if way == "recompute":
        kept = case.blocks * case.input_bytes + case.block_bytes
    return state, unit, case.batch * kept


@exercise("13.10")
def check_13_10(needs: Function) -> str:
    """4 billion parameters, ZeRO 3 on 4 devices: 16 GB of state, 0.8 of a unit, and activations."""
    for case in CASES:
        for way, stage in STAGES.items():
            state, unit, kept = terms(case, way)
            right = state + unit + kept
            mistakes = {
                right - kept: "The activations are missing.",
                right - kept + kept / case.batch: "Each text of the batch has its own activations.",
                right - state: "The state is missing.",
                right - state + terms(case, "ddp")[0]: "A device holds only its share of the "
                "state: pass `way` to state.state_bytes.",
                right - unit: UNIT.get(stage, ""),
                right - kept + terms(case, "zero3")[2]: "Count only the inputs of the blocks, plus "
                "all activations of one block.",
            }
            what = (
                f"{case.params / GB:g} billion parameters, {case.precision}, {case.blocks} blocks, "
                f"{case.devices} devices, {case.batch} texts, {way!r}: needs"
            )
            advice = "Compare with the row of this way; state.state_bytes gives the three parts."
            compare(number(needs(case, way), what), right, what, mistakes, advice)
    return "Your bytes for state, unit and activations are right, for two networks and five ways."
