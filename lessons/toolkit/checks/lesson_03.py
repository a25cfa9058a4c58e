"""Public checks of lesson 03: a baseline worth distributing."""

import sys
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

from lessons.toolkit.checks.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]
ANEW = "Both give back a new array, to be assigned or returned; the old one stays as it is."


@exercise("3.1")
def check_3_1(decode: Function) -> str:
    """A row of 3,072 bytes becomes 32 x 32 pixels of red, green and blue."""
    import numpy as np

    image = np.random.default_rng(3).integers(0, 256, (32, 32, 3), np.uint8)
    row = image.transpose(2, 0, 1).ravel()
    expected = "(32, 32, 3), red plane first, each plane row by row"
    found = decode(row.copy())
    if found is None:
        advice = "Is there a `return` in front of it? And `.resize`, of an array, returns None."
        raise CheckFailed(expected, "None", advice)
    found = np.asarray(found)
    planes = row.reshape(3, 32, 32)
    wrong = {
        "Those bytes are planes, not pixels: this picture is colour noise. First .reshape(3, 32, "
        "32), then .transpose(1, 2, 0).": row.reshape(32, 32, 3),
        f"The colours still come first: .transpose(1, 2, 0) moves them last. {ANEW}": planes,
        "Rows and columns are exchanged, the picture lies on its side: .transpose(1, 2, 0).": (
            planes.transpose(2, 1, 0)
        ),
        "Red and blue are exchanged: the first plane is red.": image[..., ::-1],
    }
    for advice, mistaken in wrong.items():
        if found.shape == mistaken.shape and np.array_equal(found, mistaken):
            raise CheckFailed(expected, f"{found.shape}, in another order", advice)
    if found.shape != image.shape:
        advice = f"First .reshape(3, 32, 32), three planes; then .transpose(1, 2, 0). {ANEW}"
        raise CheckFailed(expected, str(found.shape), advice)
    if found.dtype != np.uint8:
        advice = "Keep the bytes: a float needs four times the memory. Scaling comes in 3.2."
        raise CheckFailed("dtype uint8", f"dtype {found.dtype}", advice)
    if not np.array_equal(found, image):
        pixel = found[0, 1].tolist()
        advice = "First .reshape(3, 32, 32), three planes; then .transpose(1, 2, 0)."
        raise CheckFailed(f"pixel [0, 1] is {image[0, 1].tolist()}", f"{pixel}", advice)
    return "Three planes of 1,024 bytes became 32 x 32 pixels."


@exercise("3.2")
def check_3_2(prepare: Function) -> str:
    """Batches of float32 images in 0...1 of the asked size, made while they are read."""
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
        advice = "tf.cast(images, tf.float32) before the division by 255."
        raise CheckFailed("float32", str(values.dtype), advice)
    low, high = values.min(), values.max()
    if high > 1.001 or low < 0 or high < 0.5:
        advice = "Divide the pixels by 255, once."
        raise CheckFailed("values from 0 to 1", f"{low:.3g} to {high:.3g}", advice)
    if labels.ravel().tolist() != list(range(10)):
        advice = "Every image keeps its label and its place; shuffling is done elsewhere."
        raise CheckFailed("labels 0, 1, … 9", shown(labels.ravel().tolist()), advice)
    right = np.asarray(tf.image.resize(images / np.float32(255), (48, 48)))
    if not np.allclose(values, right, atol=1e-3):
        advice = "tf.image.resize(…, (size, size)) as it is; it keeps each image whole."
        raise CheckFailed("the same pictures, larger", "other pixels", advice)
    return "10 images became batches of 4, 4 and 2: 48 x 48, float32, 0 to 1."


def check_batches(shapes: list[tuple[int, ...]]) -> None:
    right = [(4, 48, 48, 3), (4, 48, 48, 3), (2, 48, 48, 3)]
    if shapes == right:
        return
    sizes = [shape[0] for shape in shapes if len(shape) == 4]
    if not shapes:
        advice = "The data set is empty: map the one that was given."
    elif len(shapes[0]) == 3:
        advice = ".batch(batch) is missing, or the data set that it gives back is not used."
    elif sizes == [4, 4]:
        advice = "The last batch is smaller, and is trained on as well: no drop_remainder."
    elif sizes == [4, 4, 2] and shapes[0][1:] == (32, 32, 3):
        advice = (
            "tf.image.resize(images, (size, size)) is missing, or what it or .map gives back "
            "is not used: `images` and `dataset` themselves stay as they are."
        )
    elif shapes[0][1:3] == (128, 128):
        advice = "Take the size that the function was given: (size, size)."
    elif sizes != [4, 4, 2]:
        advice = "Take the batch that the function was given: .batch(batch)."
    else:
        advice = "Batches of images: (batch, size, size, 3)."
    raise CheckFailed(f"shapes {right}", shown(shapes), advice)


PARAMETERS = {"ResNet50V2": 23_585_290, "MobileNet": 3_239_114, "ResNet152V2": 58_352_138}
OTHER_NETWORKS = {
    25_613_800: "That is the network for 1,000 classes: classes=10.",
    23_564_800: "The last layer is missing: leave include_top alone.",
    23_608_202: "That is ResNet50, without V2: take the network that `name` says.",
    4_253_864: "That is the network for 1,000 classes: classes=10.",
    60_380_648: "That is the network for 1,000 classes: classes=10.",
    42_647_050: "That is ResNet101V2.",
    58_391_434: "That is ResNet152, without V2.",
}


def no_download(*_: Any, **__: Any) -> None:
    raise CheckFailed(
        "weights=None: nothing is fetched from the internet",
        'weights="imagenet"',
        "A compute node has no internet: the job would wait until its time is over.",
    )


@exercise("3.3")
def check_3_3(program: Any) -> str:
    """ResNet50V2 with 10 classes has 23,585,290 parameters, at any size of image."""
    for name, size in (("MobileNet", 32), ("ResNet50V2", 40)):
        with no_internet(program):
            model = program.build_model(name, size)
        if not hasattr(model, "count_params"):
            advice = "Call the network and return what it gives: `return network(…)`."
            raise CheckFailed("build_model returns a Keras model", shown(model), advice)
        found = tuple(model.input_shape), tuple(model.output_shape)
        if found != ((None, size, size, 3), (None, 10)):
            advice = "input_shape=(size, size, 3), classes=10"
            if len(found[1]) == 4:
                advice = "The last layers are missing: leave include_top alone."
            elif found[1] == (None, 1000):
                advice = "1,000 classes are the networks' default, for ImageNet: classes=10."
            elif found[0] != (None, size, size, 3):
                advice = "The images are `size` by `size`: input_shape=(size, size, 3)."
            wanted = f"(None, {size}, {size}, 3) to (None, 10)"
            raise CheckFailed(wanted, f"{found[0]} to {found[1]}", advice)
        count_is(name, model.count_params())
        if not ends_in_softmax(model):
            advice = "The loss expects probabilities: leave classifier_activation alone."
            raise CheckFailed("10 probabilities", "scores without softmax", advice)
    return "23,585,290 parameters; for 1,000 classes it would be 2,049 x 990 more."


def no_internet(program: Any) -> Any:
    """Downloading means a failed check, whichever Keras the program uses."""
    fetches = sys.modules[program.keras.utils.get_file.__module__]
    return mock.patch.object(fetches, "get_file", no_download)


def ends_in_softmax(model: Any) -> bool:
    last = model.layers[-1]
    names = (getattr(getattr(last, "activation", None), "__name__", ""), type(last).__name__)
    return "softmax" in " ".join(names).lower()


def count_is(name: str, count: int) -> None:
    right = PARAMETERS[name]
    if count != right:
        advice = OTHER_NETWORKS.get(count, "getattr(keras.applications, name), and no layer more.")
        raise CheckFailed(f"{name}: {right:,} parameters", f"{count:,}", advice)


@exercise("3.4")
def check_3_4(steps: Function) -> str:
    """50,000 images are 196 batches of 256, the last one smaller."""
    for n, batch in ((50_000, 256), (50_000, 2048), (512, 64), (50_000, 1)):
        right = -(-n // batch)
        compare(
            number(steps(n, batch), f"steps({n}, {batch})"),
            right,
            f"steps({n}, {batch})",
            {
                n // batch: "This leaves out the last, smaller batch. Round up.",
                n / batch: "There is no part of a step: round up.",
                n // batch + 1: "One too many when the batch divides the images: math.ceil.",
                n * batch: "Divide.",
            },
        )
    return "196 steps at batch 256, 25 at 2,048."


# What job.sbatch and train.py take when the words say nothing, and what is asked, as in the rubric.
DEFAULTS = "--size 128 --batch-size 256 --train-samples 50000 --test-samples 10000"
ASKED = {
    "smoke": "--size 32 --batch-size 64 --train-samples 512 --test-samples 512",
    "full": "--size 128 --train-samples 50000",
}
WHY_ASKED = {
    "smoke": "Add the small sizes, *train_words: else the job ends at its time limit.",
    "full": "It is compared with ResNet50V2, so the same size and all images: *train_words.",
}


@exercise("3.5")
def check_3_5(job_words: Function, build_model: Function, profile: str = "smoke") -> str:
    """The job's words train ResNet152V2, which has 58,352,138 parameters."""
    words = job_words()
    if words is None:
        advice = "Is there a `return` in front of it? And `.extend`, of a list, returns None."
        raise CheckFailed("a list of words", "None", advice)
    one_each = 'One string for each word: ["--model", "ResNet152V2", …].'
    if not isinstance(words, list | tuple):
        raise CheckFailed("a list of words", shown(words), one_each)
    if inside := [word for word in words if isinstance(word, list | tuple)]:
        advice = "A list within the list: put a * before its name, as in [*train_words]."
        raise CheckFailed("a list of single words", shown(inside[0]), advice)
    if strange := [word for word in words if not isinstance(word, str | int)]:
        advice = "Each word is a string or a whole number."
        raise CheckFailed("a list of single words", shown(strange[0]), advice)
    if several := [word for word in map(str, words) if word.split() != [word]]:
        raise CheckFailed("a list of single words", f"{several[0]!r} as one word", one_each)
    said = options([*DEFAULTS.split(), *map(str, words)])
    model = said.get("--model")
    if model != "ResNet152V2":
        advice = "--model takes the name as Keras Applications writes it: ResNet152V2."
        raise CheckFailed("--model ResNet152V2", f"--model {model}", advice)
    batch = said["--batch-size"]
    if not batch.isdigit() or not 1 <= int(batch) <= 4096:
        raise CheckFailed("a batch size", f"--batch-size {batch}", "A whole number, such as 256.")
    for name, value in options(ASKED[profile].split()).items():
        if said[name] != value:
            raise CheckFailed(f"{name} {value}", f"{name} {said[name]}", WHY_ASKED[profile])
    count_is(model, build_model(model, 32).count_params())
    behind = " ".join(map(str, words))
    return f"58,352,138 parameters. To run it: cluster submit job.sbatch {behind}"


def options(words: list[str]) -> dict[str, str]:
    """--name value and --name=value; --batch_size is --batch-size, as in the program."""
    found: dict[str, str] = {}
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--batch_size":
            name = "--batch-size"
        if name.startswith("--"):
            following = words[place + 1] if place + 1 < len(words) else ""
            found[name] = value if equals else following
    return found


SHAPES = {
    "a": (None, 10),
    "b": (None, 4, 4, 2048),
    "c": (None, 2048),
    "d": (None, 1, 1, 2048),
}
NO_TOP = "Without its top the network ends in 2,048 features; classes play no part."
WHY_SHAPES = {
    "a": "With its top the network ends in one number for each class, at any size of image.",
    "b": "Without top the last block comes out: 2,048 pictures, each 32 times smaller than 128.",
    "c": "pooling='avg' makes one number of each of the 2,048 pictures.",
    "d": "The network halves the size five times: 32 becomes 1. Therefore 32 is the smallest.",
}


@exercise("3.6")
def check_3_6(shapes: Function) -> str:
    """Four settings of the constructor, four shapes; the first entry is None, for the batch."""
    found = shapes()
    if found is None:
        advice = "Is there a `return` in front of it? And `.update`, of a dictionary, returns None."
        raise CheckFailed("a dictionary a to d", "None", advice)
    if not isinstance(found, Mapping):
        raise CheckFailed("a dictionary a to d", shown(found), 'return {"a": (None, …), …}')
    if capitals := [key for key in found if key not in SHAPES and str(key).lower() in SHAPES]:
        advice = 'The keys are the small letters of the table: "a", not "A".'
        raise CheckFailed("the keys a, b, c and d", shown(capitals), advice)
    for letter, right in SHAPES.items():
        given = found.get(letter)
        if not isinstance(given, tuple | list):
            advice = "A tuple, with None for the batch: (None, …)."
            raise CheckFailed(f"{letter}: a shape", shown(given), advice)
        if tuple(given) == right:
            continue
        advice = WHY_SHAPES[letter]
        if tuple(given) == right[1:]:
            advice = "The first entry is the batch, which is not known yet: None."
        elif letter == "a" and tuple(given) == (None, 1000):
            advice = "classes=10 was given; 1,000 is only the default."
        elif letter != "a" and given and given[-1] in (10, 1000):
            advice = NO_TOP
        wanted = f"another shape for {letter}"
        raise CheckFailed(wanted, shown(tuple(given)), advice)
    return "Top or no top, pooled or not: the constructor decides what comes out."
