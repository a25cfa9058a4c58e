"""Checks of a network's copies (5.2), the global batch (5.3), and equal work (5.4)."""

from numbers import Integral
from typing import Any

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
    check_number,
    compare,
    exercise,
    number,
    pair,
    shown,
)


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
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        advice = "Call model.compile(optimizer=…, loss=…, metrics=[…]) inside the scope."
        raise CheckFailed("a compiled model", "it is not compiled", advice)
    copies = strategy.experimental_local_results
    # compile enters the model's scope itself, but its optimizer is made before, as an argument.
    made = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    for what, variables in (("the model", model.variables), ("the optimizer", made)):
        fewest = min((len(copies(v)) for v in variables), default=2)
        if fewest != 2:
            advice = "`with strategy.scope():` must contain both; else only one device trains."
            raise CheckFailed(f"2 copies of every variable of {what}", f"{fewest}", advice)
    rate = optimizer.learning_rate
    rate = number(rate.numpy() if hasattr(rate, "numpy") else rate, "the learning rate")
    mistakes = {0.06: "for_all has already scaled the rate: use lr unchanged."}
    compare(rate, 0.03, "the optimizer's rate for lr 0.03", mistakes, "keras.optimizers.SGD(lr)")
    images = np.zeros((4, 32, 32, 3), np.float32)
    model.fit(images, np.zeros(4), batch_size=4, verbose=0)
    arrays = ([copy.numpy() for copy in copies(v)] for v in model.variables)
    spread = max(np.ptp(each, axis=0).max() for each in arrays)
    if spread > 1e-6:
        raise CheckFailed("equal copies after a step", f"a difference of {spread:g}", "Use fit.")
    return f"{len(model.variables)} variables, two copies of each, equal after a step."


@exercise("5.3")
def check_5_3(for_all: Function, steps: Function) -> str:
    """Multiply batch and rate by N: with 2,048 images per replica, 1, 2, 4 make 25, 13, 7 steps."""
    for replicas in (2, 4, 1):
        call = f"for_all(128, 0.01, {replicas})"
        batches = {
            128: "This is the batch of one replica. All replicas share the data: multiply by N.",
            128 / replicas: "Multiply: each replica keeps its batch, and the global one grows.",
            0.01 * replicas: "Return the batch first, then the rate.",
        }
        rates = {
            0.01: "Each step averages over N times as many images, so there are N times fewer "
            "steps: multiply the rate by N.",
            0.01 / replicas: "Multiply.",
            0.01 * replicas**0.5: "The square-root rule comes in lesson 09. Here, multiply by N.",
        }
        right = (128 * replicas, 0.01 * replicas)
        check_batch_and_rate(for_all(128, 0.01, replicas), call, right, batches, rates)
    for replicas, right_steps in ((1, 25), (2, 13), (4, 7)):
        mistakes = {
            25: "A step takes per_replica x replicas images.",
            50_000 // (2048 * replicas): "This leaves out the last, smaller batch: round up.",
            50_000 / (2048 * replicas): "The number of steps is a whole number: round up.",
        }
        check_number(steps, "steps", (50_000, 2048, replicas), right_steps, mistakes)
    return "Global batch and rate grow with N; 1, 2 and 4 replicas need 25, 13 and 7 steps."


def check_batch_and_rate(
    found: Any,
    call: str,
    right: tuple[float, float],
    batches: dict[Any, str],
    rates: dict[Any, str],
) -> None:
    batch, rate = pair(found, call, ("batch", "rate"))
    compare(batch, right[0], f"batch of {call}", batches)
    compare(rate, right[1], f"rate of {call}", rates)
    if not isinstance(found[0], Integral):  # a program's --batch-size refuses 64.0
        advice = "A batch is a number of images: `/` always gives a float, `//` a whole number."
        raise CheckFailed(f"batch of {call}: a whole number", shown(found[0]), advice)


@exercise("5.4")
def check_5_4(same_work: Function) -> str:
    """The batch of all n replicas together is 128, and the rate is 0.02."""
    divide = "The program already multiplies by n, so divide here."
    for n in (2, 4, 1):
        batches = {
            128: f"Then the global batch is {128 * n}: a different training with fewer steps.",
            128 * n: divide,
        }
        rates = {0.02: divide, 0.02 * n: divide}
        call = f"same_work({n}) for each replica"
        check_batch_and_rate(same_work(n), call, (128 / n, 0.02 / n), batches, rates)
    return "128 and 0.02, 64 and 0.01, 32 and 0.005."
