"""Networks that do or do not fit, and what helps: the arithmetic by which decisions are checked."""

from dataclasses import dataclass

GB = 10**9
STATES = {"sgd": 0, "momentum": 1, "adam": 2}
PRUNED = 0.8  # of the weights; what is left needs a number and its place, 4 bytes each


@dataclass(frozen=True)
class Case:
    """sample: bytes of activations of one image. batch: on each device. largest: parameters of the
    largest layer. host: bytes beside the device. trains: or only uses what was learnt."""

    params: float
    optimizer: str
    precision: str
    sample: float
    batch: int
    layers: int
    largest: float
    devices: int
    device: float
    host: float = 64 * GB
    trains: bool = True


CASES = {
    "a": Case(25.6e6, "momentum", "float32", 0.09 * GB, 128, 50, 2.4e6, 4, 40 * GB),
    "b": Case(1.3e9, "adam", "float32", 1.5 * GB, 32, 24, 0.06e9, 4, 40 * GB),
    "c": Case(8e9, "adam", "mixed", 2 * GB, 16, 32, 0.25e9, 8, 40 * GB),
    "d": Case(20.6e9, "adam", "mixed", 0.1 * GB, 64, 12, 20.5e9, 8, 64 * GB),
    "e": Case(3e9, "adam", "mixed", 1 * GB, 8, 32, 0.1e9, 1, 24 * GB, 256 * GB),
    "f": Case(60e6, "sgd", "float32", 0.5e6, 1, 20, 8e6, 1, 0.1 * GB, 0.1 * GB, trains=False),
}
# From what costs least to what costs most: the first that fits is the one to take.
WAYS = {
    "data": "the whole network on every device, as it is",
    "accumulate": "smaller pieces of the batch one after another, one update",
    "pipeline": "layers on different devices: sends at the borders of stages only",
    "tensor": "every layer cut: sends in every layer, so it wants the fastest links",
    "offload": "the optimizer's state in the host's memory: slow, but one device will do",
    "prune": "fewer weights, for a network that is only used",
}


def state(case: Case, params: float) -> float:
    """Parameters, gradients and optimizer of so many parameters."""
    item, copy = (2, 1) if case.precision == "mixed" else (4, 0)
    return params * (2 * item + 4 * (STATES[case.optimizer] + copy))


def needs(case: Case, way: str) -> float:
    """Bytes on the fullest device; infinite where this way is none."""
    never, item = float("inf"), 2 if case.precision == "mixed" else 4
    if way == "prune":
        return never if case.trains else (1 - PRUNED) * case.params * 8 + case.sample
    if not case.trains:
        return case.params * item + case.sample if way == "data" else never
    if way == "data":
        return state(case, case.params) + case.batch * case.sample
    if way == "accumulate":
        return state(case, case.params) + case.sample
    if way == "pipeline" and min(case.devices, case.layers) > 1:
        stage = max(case.params * -(-case.layers // case.devices) / case.layers, case.largest)
        return state(case, stage) + case.sample
    if way == "tensor" and case.devices > 1:
        return state(case, case.params / case.devices) + case.sample
    if way == "offload" and state(case, case.params) <= case.host:
        return 2 * item * case.largest + case.sample
    return never


def right_way(case: Case) -> str:
    return next(way for way in WAYS if needs(case, way) <= case.device)


def told(much: float) -> str:
    return f"{much / GB:.3g} GB"
