"""Six networks, and the devices to train each of them on."""

from typing import NamedTuple

GB = 1e9
# From the cheapest way to the most expensive one.
WAYS = ("ddp", "zero1", "zero2", "zero3", "recompute")


class Network(NamedTuple):
    """A network trained with Adam, and the devices that share each of its steps."""

    params: float
    largest: float  # parameters of the largest unit
    precision: str  # "float32", or "mixed": bfloat16 parameters and float32 copies
    blocks: int
    block_bytes: float  # activations of one block, for one text
    input_bytes: float  # what goes into a block, for one text
    batch: int  # texts on each device
    devices: int
    device_bytes: float

    def __str__(self):
        return (
            f"{self.params / 1e9:g} billion parameters, {self.precision}, in {self.blocks} blocks "
            f"(largest unit {self.largest / 1e9:g} billion); batch {self.batch} per device, a text "
            f"{self.block_bytes / GB:g} GB per block, of which {self.input_bytes / GB:g} GB input; "
            f"{self.devices} devices of {self.device_bytes / GB:g} GB"
        )


NETWORKS = {
    "a": Network(6.7e9, 0.2e9, "mixed", 32, 0.125 * GB, 0.008 * GB, 2, 8, 40 * GB),
    "b": Network(13e9, 0.32e9, "mixed", 40, 0.0625 * GB, 0.004 * GB, 8, 8, 40 * GB),
    "c": Network(0.35e9, 0.05e9, "float32", 24, 0.04 * GB, 0.002 * GB, 16, 4, 24 * GB),
    "d": Network(1.5e9, 0.08e9, "mixed", 48, 0.05 * GB, 0.003 * GB, 4, 8, 24 * GB),
    "e": Network(13e9, 0.32e9, "mixed", 40, 0.15 * GB, 0.01 * GB, 1, 16, 40 * GB),
    "f": Network(70e9, 0.86e9, "mixed", 80, 0.5 * GB, 0.02 * GB, 4, 12, 80 * GB),
}


def fits(network, needs):
    """Return the first way that fits into a device's memory, and the bytes that it needs."""
    for way in WAYS:
        much = needs(network, way)
        if much <= network.device_bytes:
            return way, much
    return "none", float("inf")
