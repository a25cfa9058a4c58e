"""Checks of exercises 3.1 (bytes to images) and 3.2 (images to batches)."""

from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

PLANES = "The first 1,024 bytes are all red. Which shape has them in one plane?"
ANEW = "An array's methods return a new array, which you assign or return; the old one stays."


@exercise("3.1")
def check_3_1(decode: Function) -> str:
    """A row of 3,072 bytes becomes 32 x 32 pixels of red, green and blue."""
    import numpy as np

    image = np.random.default_rng(3).integers(0, 256, (32, 32, 3), np.uint8)
    row = image.transpose(2, 0, 1).ravel()
    expected = "(32, 32, 3) in uint8, red plane first, each plane row by row"
    found = decode(row.copy())
    if found is None:
        advice = "Is there a `return` in front of it? An array's `.resize` returns None."
        raise CheckFailed(expected, "None", advice)
    found = np.asarray(found)
    if found.dtype != np.uint8:
        advice = "Keep the bytes: floats need four times the memory. Exercise 3.2 scales them."
        raise CheckFailed(expected, f"dtype {found.dtype}", advice)
    planes = row.reshape(3, 32, 32)
    wrong = {
        f"This picture is colour noise. {PLANES}": row.reshape(32, 32, 3),
        f"The colours still come first: which axis must come last? {ANEW}": planes,
        "Rows and columns are swapped, so the picture is on its side.": planes.transpose(2, 1, 0),
    }
    if not np.array_equal(found, image):
        otherwise = f"{PLANES} {ANEW}"
        advices = (advice for advice, mistaken in wrong.items() if np.array_equal(found, mistaken))
        found_in_words = f"{found.shape}, with other pixels"
        raise CheckFailed(expected, found_in_words, next(advices, otherwise))
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
    shapes: list[Any] = []

    def resize(images: Any, *args: Any, resize: Any = tf.image.resize, **more: Any) -> Any:
        shapes.append(images.shape)
        return resize(images, *args, **more)

    with mock.patch.object(tf.image, "resize", resize):
        ready = prepare(dataset, 48, 4)
    if not isinstance(ready, tf.data.Dataset):
        advice = "Return the data set that your last call returned."
        raise CheckFailed("a tf.data.Dataset", type(ready).__name__, advice)
    if taken:
        expected = "no image is touched before training asks for it"
        advice = "All images at 128 x 128 in float32 are 9.8 GB. Resize inside .map(…)."
        raise CheckFailed(expected, f"{len(taken)} images were read at once", advice)
    kind = ready.element_spec
    if not isinstance(kind, tuple) or len(kind) != 2:
        advice = "The function inside .map takes two things, and returns as many."
        raise CheckFailed("images and labels", shown(kind), advice)
    if any(shape.rank == 3 for shape in shapes):
        advice = (
            "How many pictures does one call resize? "
            "With which order of the stages is it a whole batch?"
        )
        raise CheckFailed("tf.image.resize gets batches", "one picture", advice)
    batches = [(np.asarray(x), np.asarray(y)) for x, y in ready]
    check_batches([x.shape for x, _ in batches])
    values, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    if values.dtype != np.float32:
        advice = "Bytes stay bytes until something casts them. When: before or after the division?"
        raise CheckFailed("float32", str(values.dtype), advice)
    low, high = values.min(), values.max()
    if high > 1.001 or low < 0 or high < 0.5:
        advice = "Divide the pixels by 255, once."
        raise CheckFailed("values from 0 to 1", f"{low:.3g} to {high:.3g}", advice)
    right = np.asarray(tf.image.resize(images / np.float32(255), (48, 48)))
    if labels.tolist() != list(range(10)) or not np.allclose(values, right, atol=1e-3):
        advice = "Keep the order, and resize without options."
        raise CheckFailed("the same pictures and labels, larger", "others", advice)
    return "10 images became batches of 4, 4 and 2: 48 x 48, float32, 0 to 1."


def check_batches(shapes: list[tuple[int, ...]]) -> None:
    right = [(4, 48, 48, 3), (4, 48, 48, 3), (2, 48, 48, 3)]
    if shapes == right:
        return
    advice = "Return batches of images of the shape (batch, size, size, 3)."
    if shapes and len(shapes[0]) == 3:
        advice = "These are single images. Is the data set used that .batch returns?"
    elif shapes == right[:2]:
        advice = "Training also uses the last, smaller batch: leave out drop_remainder."
    elif shapes and shapes[0][1:] == (32, 32, 3):
        advice = (
            "The pictures still have their old size. Is the result used, of resizing and of .map? "
            "Neither changes `images` or `dataset` in place."
        )
    raise CheckFailed(f"shapes {right}", shown(shapes), advice)
