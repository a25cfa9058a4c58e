"""The check of the memory of the fullest device, for each way to divide (11.9)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number

GB = 1e9
MOMENTS = {"sgd": 0, "momentum": 1, "adam": 2}
WAYS = ("data", "accumulate", "shard", "pipeline", "tensor")


@dataclass(frozen=True)
class Network:
    """A network with the fields of the lesson's `networks.py`."""

    params: float
    optimizer: str
    precision: str
    image_bytes: float
    batch: int
    layers: int
    largest: float
    devices: int
    device_bytes: float = 40 * GB
    fast_links: bool = True


# Not those of the lesson: layers that do not divide evenly, and one that outweighs the others.
CASES = (
    Network(4e9, "adam", "mixed", 1.5 * GB, 8, 30, 0.2e9, 4),
    Network(2e9, "momentum", "float32", 0.5 * GB, 16, 6, 1.5e9, 4),
    Network(1e9, "sgd", "mixed", 0.25 * GB, 32, 24, 0.06e9, 3),
)


@exercise("11.9")
def check_11_9(needs: Callable[..., Any]) -> str:
    """4 billion parameters with Adam on 4 devices: 64 GB of state, a quarter of it is 16 GB."""
    for case in CASES:
        for way in WAYS:
            right = bytes_needed(case, way)
            found = number(needs(case, way), f"needs(network, {way!r})")
            if abs(found - right) > 1e-6 * right:
                raise CheckFailed(
                    f"{described(case)}: {way!r} needs {amount(right)}",
                    amount(found),
                    why_wrong(case, way, found),
                )
    return "State, shares, layers and activations of three networks, in five ways."


def state(case: Network) -> float:
    """Return the bytes of parameters, gradients and optimizer."""
    item, copy = (2, 1) if case.precision == "mixed" else (4, 0)
    return case.params * (2 * item + 4 * (MOMENTS[case.optimizer] + copy))


def layer(case: Network) -> float:
    """Return the bytes of the largest layer's parameters and gradients."""
    return case.largest * 2 * (2 if case.precision == "mixed" else 4)


def stage(case: Network, layers: int) -> float:
    """Return the bytes of the state of so many layers, or of the largest one if it has more."""
    return state(case) * max(layers / case.layers, case.largest / case.params)


def bytes_needed(case: Network, way: str) -> float:
    """Return the bytes on the fullest device."""
    share = state(case) / case.devices
    held = {
        "data": state(case),
        "accumulate": state(case),
        "shard": share + layer(case),
        "pipeline": stage(case, -(-case.layers // case.devices)),
        "tensor": share,
    }
    return held[way] + case.image_bytes * (case.batch if way == "data" else 1)


def why_wrong(case: Network, way: str, found: float) -> str:
    """Return the usual mistake that gives this result, if there is one."""
    activations = case.image_bytes * (case.batch if way == "data" else 1)
    held, share, p = found - activations, state(case) / case.devices, case.devices
    at_once = case.batch if way != "data" else 1
    mistakes = [
        (held, 0.0, "That is the activations alone: the state is there as well."),
        (found, bytes_needed(case, way) - activations, "The activations are missing."),
        (
            found,
            bytes_needed(case, way) - activations + case.image_bytes * at_once,
            'With "data" a device has the activations of its whole batch, otherwise of one image.',
        ),
    ]
    if way == "shard":
        mistakes += [
            (held, share, "While a layer computes, all its parameters and gradients are there."),
            (held, share + layer(case) / 2, "Of the whole layer, gradients are there as well."),
            (held, share + stage(case, 0), "The optimizer's part of a layer stays in its shards."),
            (held, state(case), "Each device keeps only its share of the state."),
        ]
    if way == "pipeline":
        mistakes += [
            (held, share, "Layers are not cut: a stage holds at least the largest of them."),
            (held, stage(case, 0), "A stage has layers / devices of them, rounded up."),
            (
                held,
                state(case) * -(-case.layers // p) / case.layers,
                "The largest layer may need more than a stage of usual ones: take the maximum.",
            ),
        ]
    for value, mistake, advice in mistakes:
        if abs(value - mistake) <= 1e-6 * max(abs(value), 1.0):
            return advice
    return "Compare with the way's row of the table, word by word; memory.memory gives the state."


def described(case: Network) -> str:
    return (
        f"{case.params / 1e9:g} billion parameters, {case.optimizer}, {case.precision}, "
        f"{case.layers} layers, the largest {case.largest / 1e9:g} billion, "
        f"{case.devices} devices, {case.batch} images of {case.image_bytes / GB:g} GB"
    )


def amount(much: float) -> str:
    return f"{much / GB:.4g} GB"
