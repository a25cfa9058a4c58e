"""Checks of a network's copies (5.2), the global batch (5.3), and equal work (5.4)."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, pair, shown

Function = Callable[..., Any]


@exercise("5.2")
def check_5_2(program: Any) -> str:
    """Every variable, including the optimizer's, has a copy on both replicas."""
    import numpy as np

    program.tf.get_logger().setLevel("WARNING")  # otherwise it logs every exchange
    strategy = program.tf.distribute.MirroredStrategy(program.devices(2))
    try:
        model = program.build_mirrored(strategy, "cnn", 32, 0.03)
    except ValueError as error:
        if "scope" not in str(error):
            raise
        advice = "Call both build_model and model.compile in one `with strategy.scope():`."
        found = "variables that were created outside of it"
        raise CheckFailed("everything created in one scope", found, advice) from None
    if not hasattr(model, "fit"):
        advice = "Inside the scope, write `model = build_model(name, size)`, then model.compile(…)."
        raise CheckFailed("a Keras model", shown(model), advice)
    fewest = min(len(program.copies(strategy, variable)) for variable in model.variables)
    if fewest != 2:
        advice = (
            "Build the model inside `with strategy.scope():`. Outside it, only one device trains."
        )
        raise CheckFailed("2 copies of every variable", f"{fewest}", advice)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        advice = "Call model.compile(optimizer=…, loss=…, metrics=[…]) inside the scope."
        raise CheckFailed("a compiled model", "it is not compiled", advice)
    # compile enters the model's scope itself, but its optimizer is made before, as an argument.
    made = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    fewest = min((len(program.copies(strategy, variable)) for variable in made), default=2)
    if fewest != 2:
        advice = "The scope must contain model.compile(…) and the call that makes the optimizer."
        found = f"{fewest} of the optimizer's step counter: it was made outside the scope"
        raise CheckFailed("2 copies of every variable", found, advice)
    check_compiled(model, optimizer)
    images = np.zeros((4, 32, 32, 3), np.float32)
    model.fit(images, np.zeros(4), batch_size=4, verbose=0)
    spread = max(np.ptp(program.copies(strategy, v), axis=0).max() for v in model.variables)
    if spread > 1e-6:
        raise CheckFailed("equal copies after a step", f"a difference of {spread:g}", "Use fit.")
    return f"{len(model.variables)} variables, two copies of each, equal after a step."


def check_compiled(model: Any, optimizer: Any) -> None:
    if "SGD" not in type(optimizer).__name__:
        found = type(optimizer).__name__
        raise CheckFailed("SGD", found, "Lesson 03 trains with keras.optimizers.SGD(lr).")
    rate = optimizer.learning_rate
    rate = float(rate.numpy() if hasattr(rate, "numpy") else rate)
    compare(
        number(rate, "the learning rate"),
        0.03,
        "the optimizer's rate for lr 0.03",
        {
            0.06: "for_all has already scaled the rate: use lr unchanged.",
            0.01: "Give SGD the rate lr.",
        },
        "keras.optimizers.SGD(lr)",
    )
    asked = "sparse_categorical_crossentropy"
    loss = model.loss or None  # Keras returns {} if no metric was named
    loss = getattr(loss, "name", None) or getattr(loss, "__name__", loss)
    if loss != asked:
        advice = f"The labels are numbers, not rows of ten: {asked}, as in lesson 03."
        raise CheckFailed(f"loss {asked}", shown(loss), advice)


@exercise("5.3")
def check_5_3(for_all: Function, steps: Function) -> str:
    """Batch and rate are multiplied by N: 25, 13, 7 steps with batch 2,048 on 1, 2, 4 replicas."""
    for replicas in (1, 2, 4):
        batch, rate = pair(
            for_all(128, 0.01, replicas),
            f"for_all(128, 0.01, {replicas})",
            ("global_batch", "rate"),
        )
        what = f"for_all(128, 0.01, {replicas})"
        compare(
            batch,
            128 * replicas,
            f"global batch of {what}",
            {
                128: (
                    "This is the batch of one replica. All replicas share the data: multiply by N."
                ),
                128 / replicas: "Multiply: each replica keeps its batch, and the global one grows.",
                0.01: "Return the batch first, then the rate.",
            },
        )
        compare(
            rate,
            0.01 * replicas,
            f"rate of {what}",
            {
                0.01: (
                    "Each step averages over N times as many images, so there are N times fewer "
                    "steps: multiply the rate by N."
                ),
                0.01 / replicas: "Multiply.",
                0.01
                * replicas**0.5: "The square-root rule comes in lesson 09. Here, multiply by N.",
            },
        )
    whole_number(for_all(128, 0.01, 2)[0], "global batch of for_all(128, 0.01, 2)")
    for replicas, right in ((1, 25), (2, 13), (4, 7)):
        compare(
            number(steps(50_000, 2048, replicas), f"steps(50000, 2048, {replicas})"),
            right,
            f"steps(50000, 2048, {replicas})",
            {
                25: "A step takes per_replica x replicas images.",
                50_000 // (2048 * replicas): "This leaves out the last, smaller batch: round up.",
                50_000 / (2048 * replicas): "The number of steps is a whole number: round up.",
                25 * replicas: "More replicas need fewer steps: divide.",
                25 / replicas: "Round up once, at the end.",
            },
        )
    return "Global batch and rate grow with N; 1, 2 and 4 replicas need 25, 13 and 7 steps."


def whole_number(batch: Any, what: str) -> None:
    """Check that a batch is a whole number. A program's --batch-size refuses 64.0."""
    if not isinstance(batch, Integral):
        advice = "A batch is a number of images: `/` always gives a float, `//` a whole number."
        raise CheckFailed(f"{what}: a whole number", shown(batch), advice)


@exercise("5.4")
def check_5_4(same_work: Function) -> str:
    """The batch of all n replicas together is 128, and the rate is 0.02."""
    for n in (1, 2, 4):
        batch, rate = pair(same_work(n), f"same_work({n})", ("batch", "rate"))
        compare(
            batch,
            128 / n,
            f"batch of each of {n} replicas",
            {
                128: (
                    f"Then the global batch is {128 * n}, which is a different training with "
                    "fewer steps."
                ),
                128 * n: "The program already multiplies by n, so divide here.",
            },
        )
        whole_number(same_work(n)[0], f"batch of each of {n} replicas")
        compare(
            rate,
            0.02 / n,
            f"rate of each of {n} replicas",
            {
                0.02: f"The program already multiplies by n: the rate would be {0.02 * n:g}.",
                0.02 * n: "The program already multiplies by n, so divide here.",
                0.02 / n**0.5: "The program multiplies by n, not by its root.",
            },
        )
    return "128 and 0.02, 64 and 0.01, 32 and 0.005."
