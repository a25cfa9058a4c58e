"""The public checks of lesson 03: right solutions pass, each usual mistake gets its advice."""

import pytest
from advice import assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_03


def gap(*_):
    raise NotImplementedError("Exercise 3.5: return a list")


# Exercise 3.1
def decode(row):
    return row.reshape(3, 32, 32).transpose(1, 2, 0)


DECODERS = [
    (lambda row: row.reshape(32, 32, 3), "colour noise"),
    (lambda row: row.reshape(3, 32, 32), "still come first"),
    (lambda row: row.reshape(3, 32, 32).T, "picture is on its side"),
]


def test_decode():
    lesson_03.check_3_1(decode)


@pytest.mark.parametrize(("wrong", "advice"), DECODERS)
def test_wrong_decoders(wrong, advice):
    assert_advice(failure(lesson_03.check_3_1, wrong), advice)


# Exercises 3.2 and 3.3: mistakes in the program, in one process: TensorFlow is slow to import.
RESIZED = "tf.image.resize(tf.cast(images, tf.float32) / 255, (size, size))"
PROGRAM_MISTAKES = [
    ("3.2", " / 255", "", "Divide the pixels by 255, once"),
    ("3.2", " / 255", " / 255 / 255", "once"),
    ("3.2", RESIZED, "tf.cast(images, tf.float32) / 255", "old size"),
    ("3.2", "batch(batch).map(pixels)", "map(pixels).batch(batch)", "how many pictures"),
    ("3.3", ", classes=10", "", "1,000 classes"),
    ("3.3", "classes=10", "include_top=False", "leave include_top alone"),
    ("3.3", "weights=None", 'weights="imagenet"', "weights"),
]  # fmt: skip
SHAPES_OF_KERAS = """
# What the check of 3.4 holds to be right is what Keras gives.
from tensorflow import keras
settings = {"a": dict(input_shape=(128, 128, 3), classes=10),
            "b": dict(input_shape=(128, 128, 3), include_top=False),
            "c": dict(input_shape=(128, 128, 3), include_top=False, pooling="avg"),
            "d": dict(input_shape=(32, 32, 3), include_top=False)}
for letter, setting in settings.items():
    shape = keras.applications.ResNet50V2(weights=None, **setting).output_shape
    if shape != lesson.networks.SHAPES[letter]:
        print(letter, shape)
        failures += 1
"""


@pytest.mark.slow
def test_the_programs_functions():
    assert_passes("03_baseline", ("3.2", "3.3"), PROGRAM_MISTAKES, SHAPES_OF_KERAS)


# Exercise 3.4
RIGHT = {"a": (None, 10), "b": (None, 4, 4, 2048), "c": (None, 2048), "d": (None, 1, 1, 2048)}
SHAPES = [
    ({"a": (None, 1000)}, "what does the top do"),
    ({"a": (10,)}, "the batch"),
    ({"b": (None, 2048)}, "how often is the picture halved"),
]
NO_SHAPES = [
    ((None, 10), "a dictionary"),
    (None, "is there a `return`"),
    ({letter.upper(): shape for letter, shape in RIGHT.items()}, "lower-case letters"),
]


def test_shapes():
    lesson_03.check_3_4(lambda: RIGHT)
    lesson_03.check_3_4(lambda: {letter: list(shape) for letter, shape in RIGHT.items()})


@pytest.mark.parametrize(("wrong", "advice"), SHAPES)
def test_wrong_shapes(wrong, advice):
    assert_advice(failure(lesson_03.check_3_4, lambda: RIGHT | wrong), advice)


@pytest.mark.parametrize(("wrong", "advice"), NO_SHAPES)
def test_what_is_no_dictionary_of_shapes(wrong, advice):
    assert_advice(failure(lesson_03.check_3_4, lambda: wrong), advice)
