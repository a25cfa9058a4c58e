"""The public checks of lesson 05: right solutions pass, each usual mistake gets its advice."""

import numpy as np
import pytest
from advice import assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_05

# Exercise 5.2: mistakes in the program, in one process: TensorFlow is slow to import.
COMPILE = (
    "        model.compile(\n            optimizer=keras.optimizers.SGD(lr),\n"
    '            loss="sparse_categorical_crossentropy",\n'
    '            metrics=["accuracy"],\n        )\n'
)
BUILD = "model = build_model(name, size)\n"
SCOPE = f"    with strategy.scope():\n        {BUILD}"
PROGRAM_MISTAKES = [
    ("5.2", "with strategy.scope()", "if True", "only one device trains"),
    ("5.2", SCOPE, f"    {BUILD}    with strategy.scope():\n", "belong together"),
    ("5.2", COMPILE, "", "not compiled"),
]
LOSS = '"sparse_categorical_crossentropy"'
RIGHT_AS_WELL = [
    ("5.2", LOSS, "keras.losses.SparseCategoricalCrossentropy()"),
    ("5.2", LOSS, "keras.losses.sparse_categorical_crossentropy"),
    ("5.2", "        model.compile", "    with strategy.scope():\n        model.compile"),
]


@pytest.mark.slow
def test_the_scope():
    assert_passes("05_mirrored", ("5.2",), PROGRAM_MISTAKES + RIGHT_AS_WELL)


# Exercise 5.3
def for_all(batch, lr, replicas):
    return batch * replicas, lr * replicas


def same_work(n):
    return 128 // n, 0.02 / n


FOR_ALL = [
    (lambda batch, lr, n: (batch, lr * n), "share the data"),
    (lambda batch, lr, n: (batch / n, lr * n), "the global one grows"),
    (lambda batch, lr, n: (lr * n, batch * n), "Return the batch first"),
    (lambda batch, lr, n: (batch * n, lr), "N times fewer"),
]
SAME_WORK = [
    (lambda n: (128, 0.02), "a different training"),
    (lambda n: (128 * n, 0.02 * n), "undo it"),
    (lambda n: (128 / n, 0.02 / n), "always gives a float, `//`"),
]


@pytest.mark.parametrize(
    "right",
    [
        same_work,
        lambda n: [np.int64(128) // n, np.float64(0.02) / n],
        lambda n: (int(128 / n), 0.02 / n),
    ],
)
def test_batch_and_rate(right):
    lesson_05.check_5_3(for_all, right)


@pytest.mark.parametrize(("wrong", "advice"), FOR_ALL)
def test_wrong_batch_or_rate(wrong, advice):
    assert_advice(failure(lesson_05.check_5_3, wrong, same_work), advice)


@pytest.mark.parametrize(("wrong", "advice"), SAME_WORK)
def test_wrong_work(wrong, advice):
    assert_advice(failure(lesson_05.check_5_3, for_all, wrong), advice)


# Exercise 5.4
def each(model, images, labels):
    return -np.log(model(images, training=True)[range(len(labels)), labels])


LOSSES = [
    (lambda model, x, y, batch: each(model, x, y).mean(), "were the whole batch"),
    (lambda model, x, y, batch: each(model, x, y).mean() / 2, "two equal parts only"),
    (lambda model, x, y, batch: each(model, x, y).sum(), "grows with it"),
    (lambda model, x, y, batch: each(model, x, y).sum() / 8, "one image weigh"),
]


def test_losses_add_up():
    lesson_05.check_5_4(lambda model, x, y, batch: each(model, x, y).sum() / batch)


@pytest.mark.parametrize(("wrong", "advice"), LOSSES)
def test_losses_that_do_not_add_up(wrong, advice):
    assert_advice(failure(lesson_05.check_5_4, wrong), advice)


# Exercise 5.1
def holds(kind, device):
    half, part = divmod(device, 2)
    return {
        "data": ([0, 1, 2, 3], [2 * device, 2 * device + 1]),
        "hybrid": ([2 * part, 2 * part + 1], range(4 * half, 4 * half + 4)),
    }.get(kind, ([device], range(8)))


def changed(kind, layers=None, images=None):
    """Change one kind of the right answer: other layers or images, from (half, part, device)."""

    def wrong(asked, device):
        right, given = holds(asked, device), (*divmod(device, 2), device)
        if asked != kind:
            return right
        return (layers(*given) if layers else right[0], images(*given) if images else right[1])

    return wrong


def add_one(part):
    return [n + 1 for n in part]


HOLDS = [
    (lambda kind, device: holds(kind, device)[::-1], "swapped"),
    (lambda kind, device: tuple(map(add_one, holds(kind, device))), "counted from 0"),
    (changed("model", lambda half, part, device: [device + 1]), "counted from 0"),
]  # fmt: skip


def test_holds():
    lesson_05.check_5_1(holds)
    lesson_05.check_5_1(lambda kind, device: [set(part) for part in holds(kind, device)])


@pytest.mark.parametrize(("wrong", "advice"), HOLDS)
def test_wrong_holdings(wrong, advice):
    assert_advice(failure(lesson_05.check_5_1, wrong), advice)
