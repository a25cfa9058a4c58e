"""Check which device holds which layers and which images (5.1)."""

from collections.abc import Callable, Iterable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number, shown

Function = Callable[..., Any]
Held = tuple[list[Any], list[Any]]  # layers and images of a device

LAYERS, IMAGES = list(range(4)), list(range(8))

WHO_HOLDS = {
    "data": "Each device has the whole network and a quarter of the batch.",
    "model": "Each device has one layer, and every image passes through it.",
    "pipeline": "This is the same as in model parallelism; only the times differ.",
    "hybrid": "Two devices share a network, two layers each; each pair has half the batch.",
}


@exercise("5.1")
def check_5_1(holds: Function) -> str:
    """Check which device has which layers and images, for four ways to divide the work."""
    for device in range(4):
        half, part = divmod(device, 2)
        quarter, two = [2 * device, 2 * device + 1], [2 * part, 2 * part + 1]
        right: dict[str, Held] = {
            "data": (LAYERS, quarter),
            "model": ([device], IMAGES),
            "pipeline": ([device], IMAGES),
            "hybrid": (two, IMAGES[4 * half : 4 * half + 4]),
        }
        for kind, wanted in right.items():
            found = held(holds(kind, device), kind)
            if found != wanted:
                raise CheckFailed(
                    f"{kind}, device {device}: layers {wanted[0]}, images {wanted[1]}",
                    f"layers {shown(found[0])}, images {shown(found[1])}",
                    advice_for(found, wanted, kind, device),
                )
    return (
        "Each device has all layers and a part of the batch, some layers and the whole batch, "
        "or a part of both."
    )


def held(found: Any, kind: str) -> Held:
    """Return a device's layers and images as two sorted lists."""
    if found is None:
        advice = f'Is there a `return` for "{kind}", too?'
        raise CheckFailed("two lists, layers and images", "None", advice)
    if not isinstance(found, tuple | list) or len(found) != 2:
        advice = "Return both: `return layers, images`."
        raise CheckFailed("two lists, layers and images", shown(found), advice)
    for part in found:
        if isinstance(part, str) or not isinstance(part, Iterable):
            advice = (
                "Return the numbers of the layers or images, not their count: a list, such "
                "as [0, 1]."
            )
            raise CheckFailed("a list of numbers", shown(part), advice)
    numbers = [sorted(number(n, f'each entry of "{kind}"') for n in part) for part in found]
    layers, images = ([int(n) if n == int(n) else n for n in part] for part in numbers)
    return layers, images


def advice_for(found: Held, right: Held, kind: str, device: int) -> str:
    """Return advice on the usual mistake that leads to these layers and images."""
    layers, images = found
    if found == right[::-1]:
        return "The two lists are swapped: first the layers, then the images."
    if layers == [n + 1 for n in right[0]] or images == [n + 1 for n in right[1]]:
        return "Layers and images are counted from 0."
    if not set(layers) <= set(LAYERS) or not set(images) <= set(IMAGES):
        return "There are layers 0 to 3 and images 0 to 7."
    if any(len(set(part)) < len(part) for part in found):
        return "Something occurs twice: use each layer and each image once."
    quarter = (2 * device, 2 * device + 1)
    usual = {
        ("data", "images", (device,)): "Eight images on four devices make two per device.",
        ("data", "images", (device, device + 4)): "Blocks in order: device 0 has images 0 and 1.",
        (
            "data",
            "images",
            tuple(IMAGES),
        ): "If all devices have the whole batch, they all do the same work: each takes a quarter.",
        ("hybrid", "layers", (device,)): "Two devices share four layers: each has two.",
        ("hybrid", "layers", tuple(LAYERS)): "Two devices share a network: each has two layers.",
        ("hybrid", "images", quarter): "Both devices of a network need the same half of the batch.",
        ("hybrid", "images", tuple(IMAGES)): "There are two networks: each takes half the batch.",
    }
    parts = zip(("layers", "images"), found, right, strict=True)
    wrong = [(kind, name, tuple(part)) for name, part, asked in parts if part != asked]
    if len(wrong) == 1 and wrong[0] in usual:
        return usual[wrong[0]]
    if len(wrong) == 1 and (layers == right[0][:-1] or images == right[1][:-1]):
        return "One number is missing: range(a, b) and [a:b] end before b."
    if kind == "hybrid":
        return f"Devices 0 and 1 form one network, devices 2 and 3 another. {WHO_HOLDS[kind]}"
    return WHO_HOLDS[kind]
