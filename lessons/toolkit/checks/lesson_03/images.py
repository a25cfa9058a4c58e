"""Checks of exercises 3.1 (bytes to images) and 3.2 (images to batches)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]
ANEW = "Both return a new array, which you assign or return; the old one does not change."


@exercise("3.1")
def check_3_1(decode: Function) -> str:
    """A row of 3,072 bytes becomes 32 x 32 pixels of red, green and blue."""
    import numpy as np

    image = np.random.default_rng(3).integers(0, 256, (32, 32, 3), np.uint8)
    row = image.transpose(2, 0, 1).ravel()
    expected = "(32, 32, 3), red plane first, each plane row by row"
    found = decode(row.copy())
    if found is None:
        advice = "Is there a `return` in front of it? An array's `.resize` returns None."
        raise CheckFailed(expected, "None", advice)
    found = np.asarray(found)
    planes = row.reshape(3, 32, 32)
    wrong = {
        "The bytes are planes, not pixels: this picture is colour noise. First .reshape(3, 32, "
        "32), then .transpose(1, 2, 0).": row.reshape(32, 32, 3),
        f"The colours still come first: .transpose(1, 2, 0) moves them last. {ANEW}": planes,
        "Rows and columns are swapped, so the picture is on its side: .transpose(1, 2, 0).": (
            planes.transpose(2, 1, 0)
        ),
        "Red and blue are swapped: the first plane is red.": image[..., ::-1],
    }
    for advice, mistaken in wrong.items():
        if found.shape == mistaken.shape and np.array_equal(found, mistaken):
            raise CheckFailed(expected, f"{found.shape}, in another order", advice)
    if found.shape != image.shape:
        advice = (
            f"First call .reshape(3, 32, 32) for three planes, then .transpose(1, 2, 0). {ANEW}"
        )
        raise CheckFailed(expected, str(found.shape), advice)
    if found.dtype != np.uint8:
        advice = "Keep the bytes: floats need four times the memory. Exercise 3.2 scales them."
        raise CheckFailed("dtype uint8", f"dtype {found.dtype}", advice)
    if not np.array_equal(found, image):
        pixel = found[0, 1].tolist()
        advice = "First call .reshape(3, 32, 32) for three planes, then .transpose(1, 2, 0)."
        raise CheckFailed(f"pixel [0, 1] is {image[0, 1].tolist()}", f"{pixel}", advice)
    return "Three planes of 1,024 bytes became 32 x 32 pixels."


@exercise("3.2")
def check_3_2(prepare: Function) -> str:
    """Batches of float32 images in 0…1, in the requested size, created only when read."""
    import numpy as np
    import tensorflow as tf

    images = np.random.default_rng(3).integers(0, 256, (10, 32, 32, 3), np.uint8)
    images[0, 0, 0] = 0, 128, 255
    taken: list[int] = []

    def one_by_one() -> Any:
        for n, image in enumerate(images):
            taken.append(n)
            yield image, n

    kinds = (tf.TensorSpec((32, 32, 3), tf.uint8), tf.TensorSpec((), tf.int64))
    dataset = tf.data.Dataset.from_generator(one_by_one, output_signature=kinds)
    ready = prepare(dataset, 48, 4)
    if not isinstance(ready, tf.data.Dataset):
        advice = "Return the data set: `return dataset.batch(batch).map(…)`."
        raise CheckFailed("a tf.data.Dataset", type(ready).__name__, advice)
    if taken:
        raise CheckFailed(
            "no image is touched before training asks for it",
            f"{len(taken)} images were read at once",
            "All images at 128 x 128 in float32 are 9.8 GB. Resize inside .map(…).",
        )
    kind = ready.element_spec
    if not isinstance(kind, tuple) or len(kind) != 2:
        advice = "The function inside .map returns two things: `return images, labels`."
        raise CheckFailed("images and labels", shown(kind), advice)
    batches = [(np.asarray(x), np.asarray(y)) for x, y in ready]
    shapes = [x.shape for x, _ in batches]
    check_batches(shapes)
    values, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    if values.dtype != np.float32:
        advice = "Call tf.cast(images, tf.float32) before the division by 255."
        raise CheckFailed("float32", str(values.dtype), advice)
    low, high = values.min(), values.max()
    if high > 1.001 or low < 0 or high < 0.5:
        advice = "Divide the pixels by 255, once."
        raise CheckFailed("values from 0 to 1", f"{low:.3g} to {high:.3g}", advice)
    if labels.ravel().tolist() != list(range(10)):
        advice = "Every image has to keep its label and its place: do not shuffle here."
        raise CheckFailed("labels 0, 1, … 9", shown(labels.ravel().tolist()), advice)
    right = np.asarray(tf.image.resize(images / np.float32(255), (48, 48)))
    if not np.allclose(values, right, atol=1e-3):
        advice = (
            "Use tf.image.resize(…, (size, size)) without options, so that each image stays whole."
        )
        raise CheckFailed("the same pictures, larger", "other pixels", advice)
    return "10 images became batches of 4, 4 and 2: 48 x 48, float32, 0 to 1."


def check_batches(shapes: list[tuple[int, ...]]) -> None:
    right = [(4, 48, 48, 3), (4, 48, 48, 3), (2, 48, 48, 3)]
    if shapes == right:
        return
    sizes = [shape[0] for shape in shapes if len(shape) == 4]
    if not shapes:
        advice = "The data set is empty: use the argument `dataset`."
    elif len(shapes[0]) == 3:
        advice = ".batch(batch) is missing, or the data set that it returns is not used."
    elif sizes == [4, 4]:
        advice = "Training also uses the last, smaller batch: leave out drop_remainder."
    elif sizes == [4, 4, 2] and shapes[0][1:] == (32, 32, 3):
        advice = (
            "tf.image.resize(images, (size, size)) is missing, or you do not use the result "
            "of it or of .map: neither changes `images` or `dataset` in place."
        )
    elif shapes[0][1:3] == (128, 128):
        advice = "Use the size that the function gets: (size, size)."
    elif sizes != [4, 4, 2]:
        advice = "Use the batch that the function gets: .batch(batch)."
    else:
        advice = "Return batches of images: (batch, size, size, 3)."
    raise CheckFailed(f"shapes {right}", shown(shapes), advice)
