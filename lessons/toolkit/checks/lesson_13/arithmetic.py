"""Check the bytes that enter a node (13.6) and those of all tensors on a device (13.7)."""

from dataclasses import dataclass

from lessons.toolkit.checks.shared.check import Function, check_number, compare, exercise, number

GB = 1e9
PARTS = ("parameters", "gradients", "optimizer")
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "recompute": 3}
EACH = {"float32": (4, 4, 8), "mixed": (2, 2, 12)}  # bytes of a parameter, by part
SHARED_FROM = dict(zip(PARTS, (3, 2, 1), strict=True))  # the first stage that shards it


@exercise("13.6")
def check_13_6(into_node: Function) -> str:
    """On 2 nodes with one rank each, HSDP shards nothing: 1 MB comes in, as with DDP."""
    for nodes, ranks in ((3, 4), (2, 2), (2, 1)):
        for way in ("fsdp", "hsdp"):
            rings = {"fsdp": 4 * (nodes * ranks - 1) / (nodes * ranks), "hsdp": 2 - 2 / nodes}
            right = 1e6 * rings[way]
            mistakes = {
                right * ranks: "Those are the bytes of all links. How many of them enter the node?",
                right / ranks: "That is one rank's share. Add up those of the node's ranks.",
                right / 2: "Some of the collectives are missing.",
                right * 3 / 4: "What does Gloo do instead of a reduce-scatter?",
            }
            advice = "Draw the ranks of two nodes as a ring. Which of its links cross?"
            arguments = (1_000_000, nodes, ranks, way)
            check_number(into_node, "into_node", arguments, right, mistakes, advice)
    return "HSDP's gathers stay inside a node."


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


@exercise("13.7")
def check_13_7(needs: Function) -> str:
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
                "state. Which share, in this way?",
                right - unit: UNIT.get(stage, ""),
                right - kept + terms(case, "zero3")[2]: "Count only the inputs of the blocks, plus "
                "all activations of one block.",
            }
            what = (
                f"{case.params / GB:g} billion parameters, {case.precision}, {case.blocks} blocks, "
                f"{case.devices} devices, {case.batch} texts, {way!r}: needs"
            )
            advice = "Compare with the row of this way. Which bytes of the state does it share out?"
            compare(number(needs(case, way), what), right, what, mistakes, advice)
    return "Your bytes for state, unit and activations are right, for two networks and five ways."
