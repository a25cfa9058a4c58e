"""Networks that do or do not fit on a device, and the first way to train each of them."""

from typing import NamedTuple

GB = 1e9
# From the way that costs least to the one that costs most.
WAYS = ("data", "accumulate", "shard", "pipeline", "tensor")
EVERY_LAYER = ("shard", "tensor")  # these send something in every layer


class Network(NamedTuple):
    """A network, its optimizer, and the devices that are to train it."""

    params: float
    optimizer: str
    precision: str  # "float32", or "mixed": bfloat16 parameters and float32 copies
    image_bytes: float  # activations of one image
    batch: int  # images on each device
    layers: int
    largest: float  # parameters of the largest layer
    devices: int
    device_bytes: float
    fast_links: bool

    def __str__(self):
        links = "fast" if self.fast_links else "slow"
        return (
            f"{self.params / 1e9:g} billion parameters, {self.optimizer}, {self.precision}; "
            f"{self.layers} layers, the largest with {self.largest / 1e9:g} billion; "
            f"{self.batch} images of {self.image_bytes / GB:g} GB; "
            f"{self.devices} devices of {self.device_bytes / GB:g} GB with {links} links"
        )


NETWORKS = {
    "a": Network(25.6e6, "momentum", "float32", 0.09 * GB, 128, 50, 2.4e6, 4, 40 * GB, True),
    "b": Network(1.3e9, "adam", "float32", 1.5 * GB, 32, 24, 0.06e9, 4, 40 * GB, True),
    "c": Network(8e9, "adam", "mixed", 2 * GB, 16, 32, 0.25e9, 8, 40 * GB, True),
    "d": Network(20.6e9, "adam", "mixed", 0.1 * GB, 64, 12, 20.5e9, 8, 64 * GB, True),
    "e": Network(3e9, "adam", "mixed", 1 * GB, 8, 32, 0.1e9, 4, 24 * GB, False),
}


def fits(network, needs):
    """Return the first way with which the fullest device has room, and the bytes it needs."""
    for way in WAYS:
        if network.fast_links or way not in EVERY_LAYER:
            much = needs(network, way)
            if much <= network.device_bytes:
                return way, much
    return "none", float("inf")
