"""Check which device holds which layers and which images (5.1)."""

from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

LAYERS, IMAGES = list(range(4)), list(range(8))
WHO_HOLDS = {
    "data": "Of network and batch, which does every device have in full?",
    "model": "Which images pass through a device's layers?",
    "pipeline": "What differs from model parallelism: what a device holds, or when it computes?",
    "hybrid": "How many networks are there in all, and on how many devices is each?",
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
            expected = f'the layers and images of device {device} for "{kind}"'
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
