"""Check which device holds which layers and which images (5.1)."""

from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

LAYERS, IMAGES = list(range(4)), list(range(8))
WHO_HOLDS = {
    "data": "Each device has the whole network and a quarter of the batch: images 0 and 1 first.",
    "model": "Each device has one layer, and every image passes through it.",
    "pipeline": "This is the same as in model parallelism; only the times differ.",
    "hybrid": "Devices 0 and 1 form one network, devices 2 and 3 another. Two devices share a "
    "network, two layers each; each pair has half the batch.",
}


@exercise("5.1")
def check_5_1(holds: Function) -> str:
    """Check which device has which layers and images, for four ways to divide the work."""
    for device in range(4):
        half, part = divmod(device, 2)
        right = {
            "data": (LAYERS, [2 * device, 2 * device + 1]),
            "model": ([device], IMAGES),
            "pipeline": ([device], IMAGES),
            "hybrid": ([2 * part, 2 * part + 1], IMAGES[4 * half : 4 * half + 4]),
        }
        for kind, wanted in right.items():
            layers, images = held(holds(kind, device), kind)
            if (layers, images) == wanted:
                continue
            advice = WHO_HOLDS[kind]
            if (images, layers) == wanted:
                advice = "The two lists are swapped: first the layers, then the images."
            elif [n - 1 for n in layers] == wanted[0] or [n - 1 for n in images] == wanted[1]:
                advice = "Layers and images are counted from 0."
            elif layers == wanted[0][:-1] or images == wanted[1][:-1]:
                advice = "One number is missing: range(a, b) and [a:b] end before b."
            expected = f"{kind}, device {device}: layers {wanted[0]}, images {wanted[1]}"
            raise CheckFailed(expected, f"layers {layers}, images {images}", advice)
    return (
        "Each device has all layers and a part of the batch, some layers and the whole batch, "
        "or a part of both."
    )


def held(found: Any, kind: str) -> tuple[list[int], list[int]]:
    """Return a device's layers and images as two sorted lists."""
    expected = "two lists of numbers, layers and images"
    if found is None:
        raise CheckFailed(expected, "None", f'Is there a `return` for "{kind}", too?')
    try:
        layers, images = (sorted(int(n) for n in part) for part in found)
    except (TypeError, ValueError):
        advice = "Return both, as lists of numbers such as [0, 1]: `return layers, images`."
        raise CheckFailed(expected, shown(found), advice) from None
    return layers, images
