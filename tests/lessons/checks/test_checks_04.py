"""The public checks of lesson 04: right solutions pass, each usual mistake gets its advice."""

from pathlib import Path

import numpy as np
import pytest
from advice import assert_advice, failure

from lessons.toolkit.checks import lesson_04


def gap(*_):
    raise NotImplementedError("Exercise 4.1: packs of equal size")


# Exercise 4.1
def write_packs(records, folder, packs):
    for number, rows in enumerate(np.array_split(records, packs)):
        rows.tofile(Path(folder) / f"pack_{number:04d}.bin")


def row_by_row(records, folder, packs):
    for number, rows in enumerate(np.array_split(records, packs)):
        for row in rows:
            row.tofile(Path(folder) / f"pack_{number:04d}.bin")


def dealt_row_by_row(records, folder, packs):
    for number, row in enumerate(records):
        row.tofile(Path(folder) / f"pack_{number % packs:04d}.bin")


def rest_to_the_same_path(records, folder, packs):
    each = len(records) // packs
    for number in range(packs):
        path = Path(folder) / f"pack_{number:04d}.bin"
        records[number * each : (number + 1) * each].tofile(path)
        if each * packs + number < len(records):
            records[each * packs + number].tofile(path)


def appended(records, folder, packs):
    """Write row after row to one open file, which is right, but long."""
    for number, rows in enumerate(np.array_split(records, packs)):
        with (Path(folder) / f"pack_{number:04d}.bin").open("wb") as file:
            for row in rows:
                row.tofile(file)


def as_single_files(records, folder, packs):
    """Copy the lines of write_files."""
    for number, row in enumerate(np.array_split(records, packs)):
        row.tofile(Path(folder) / f"{number:05d}.bin")


PACKS = [
    (as_single_files, "which names does the docstring"),
    (row_by_row, "in one call"),
    (dealt_row_by_row, "in one call"),
    (rest_to_the_same_path, "overwrites the file"),
]


def test_write_packs():
    lesson_04.check_4_1(write_packs)
    lesson_04.check_4_1(appended)


@pytest.mark.parametrize(("wrong", "advice"), PACKS)
def test_packs(wrong, advice):
    assert_advice(failure(lesson_04.check_4_1, wrong), advice)


# Exercise 4.2
def order(names, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(names)


ORDERS = [
    (lambda names, epoch, seed: names, "is the result returned"),
    (lambda names, epoch, seed: order(names, 0, seed + epoch), "keep them apart"),
    (lambda names, epoch, seed: [order(names, epoch, seed), names][1], "is the result returned"),
    (lambda names, epoch, seed: order(names, 0, seed), "does the epoch"),
]


def test_order():
    lesson_04.check_4_2(order)
    lesson_04.check_4_2(lambda names, epoch, seed: list(order(names, epoch, seed)))


@pytest.mark.parametrize(("wrong", "advice"), ORDERS)
def test_orders(wrong, advice):
    assert_advice(failure(lesson_04.check_4_2, wrong), advice)


# Exercise 4.3: the stages by name, in an order that may be wrong
def pixels(images, marks):
    import tensorflow as tf  # in functions: every worker collects this file, one runs it

    return tf.image.resize(tf.cast(images, tf.float32) / 255, (8, 8)), marks


def stages(words):
    """Return a student's function with these stages and the program's switches."""

    def build(pieces, decode, args):

        steps = {
            "map": lambda d: d.map(decode, num_parallel_calls=args.workers),
            "map two": lambda d: d.map(decode, num_parallel_calls=2),
            "unbatch": lambda d: d.unbatch(),
            "cache": lambda d: d.cache() if args.cache else d,
            "shuffle": lambda d: d.shuffle(args.buffer),
            "prepare": lambda d: d.batch(args.batch_size).map(pixels),
            "prefetch": lambda d: d.prefetch(2) if args.prefetch else d,
        }
        for word in words.split(", "):
            pieces = steps[word](pieces)
        return pieces

    return build


RIGHT = "map, unbatch, cache, shuffle, prepare, prefetch"
STAGES = [
    (stages("map, unbatch, shuffle, cache, prepare, prefetch"), "new in each epoch"),
    (stages("map, unbatch, shuffle, prepare, cache, prefetch"), "comes after prepare"),
    (stages("map, unbatch, cache, prepare, prefetch"), "a stage is missing"),
    (stages("map, cache, shuffle, unbatch, prepare, prefetch"), "shuffle single samples"),
    (stages("map, unbatch, cache, shuffle, prepare"), "training takes batches"),
    (stages("map two, unbatch, cache, shuffle, prepare, prefetch"), "is that number"),
]


def test_stages():
    lesson_04.check_4_3(stages(RIGHT))
    lesson_04.check_4_3(stages("map, cache, unbatch, shuffle, prepare, prefetch"))


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "advice"), STAGES)
def test_orders_of_stages(wrong, advice):
    failed = failure(lesson_04.check_4_3, wrong)
    assert_advice(failed, advice)
    assert "ag__" not in str(failed)  # the student's line, not TensorFlow's version of it


# Exercise 4.4
def gigabytes(n, seconds):
    return 12 * n / seconds / 1e9


def gigaflops(n, seconds):
    return 2 * n**3 / seconds / 1e9


RATES = [
    (lambda n, s: 4 * n / s / 1e9, gigaflops, "which does it write"),
    (lambda n, s: 8 * n / s / 1e9, gigaflops, "the result is written too"),
    (lambda n, s: 24 * n / s / 1e9, gigaflops, "a float64 has 8"),
]


def test_rates():
    lesson_04.check_4_4(gigabytes, gigaflops)


@pytest.mark.parametrize(("bytes_", "flops", "advice"), RATES)
def test_wrong_rates(bytes_, flops, advice):
    assert_advice(failure(lesson_04.check_4_4, bytes_, flops), advice)
