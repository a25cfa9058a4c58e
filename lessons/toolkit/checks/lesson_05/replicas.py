"""Checks of a network's copies (5.2), the global batch and equal work (5.3), and a loss (5.4)."""

from numbers import Integral
from typing import Any

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
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
    try:
        strategy = program.tf.distribute.MirroredStrategy(program.devices(2))
    except RuntimeError as error:
        if "Virtual devices" not in str(error):
            raise
        advice = "Restart the kernel, and run this check before anything else of TensorFlow."
        raise CheckFailed("two devices", "TensorFlow has started with one", advice) from None
    try:
        model = program.build_mirrored(strategy, "cnn", 32, 0.03)
    except ValueError as error:
        if "scope" not in str(error):
            raise
        advice = "Network and optimizer belong together: what must be created in the scope?"
        found = "variables that were created outside of it"
        raise CheckFailed("everything created in one scope", found, advice) from None
    if not hasattr(model, "fit"):
        advice = "Which function of train.py builds the network? Return its result, compiled."
        raise CheckFailed("a Keras model", shown(model), advice)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        advice = "Lesson 03's program compiles its network. What did it pass?"
        raise CheckFailed("a compiled model", "it is not compiled", advice)
    copies = strategy.experimental_local_results
    # compile enters the model's scope itself, but its optimizer is made before, as an argument.
    made = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    for what, variables in (("the model", model.variables), ("the optimizer", made)):
        fewest = min((len(copies(v)) for v in variables), default=2)
        if fewest != 2:
            advice = "Where was it created? Without copies only one device trains."
            raise CheckFailed(f"2 copies of every variable of {what}", f"{fewest}", advice)
    rate = optimizer.learning_rate
    rate = number(rate.numpy() if hasattr(rate, "numpy") else rate, "the learning rate")
    mistakes = {0.06: "for_all has already scaled the rate: use lr unchanged."}
    compare(rate, 0.03, "the optimizer's rate for lr 0.03", mistakes, "Which rate did you pass?")
    images = np.zeros((4, 32, 32, 3), np.float32)
    model.fit(images, np.zeros(4), batch_size=4, verbose=0)
    arrays = ([copy.numpy() for copy in copies(v)] for v in model.variables)
    spread = max(np.ptp(each, axis=0).max() for each in arrays)
    if spread > 1e-6:
        raise CheckFailed("equal copies after a step", f"a difference of {spread:g}", "Use fit.")
    return f"{len(model.variables)} variables, two copies of each, equal after a step."


@exercise("5.3")
def check_5_3(for_all: Function, same_work: Function) -> str:
    """The global batch and rate follow from those of a replica, and `same_work` goes back."""
    for n in (2, 4, 1):
        batches = {
            128: "This is the batch of one replica. All replicas share the data.",
            128 / n: "Each replica keeps its batch, and the global one grows.",
            0.01 * n: "Return the batch first, then the rate.",
        }
        rates = {
            0.01: "Each step averages over N times as many images, so there are N times fewer "
            "steps, none of them longer than before.",
            0.01 * n**0.5: "The square-root rule comes in lesson 09.",
        }
        right = (128 * n, 0.01 * n)
        check_batch_and_rate(
            for_all(128, 0.01, n), f"for_all(128, 0.01, {n})", right, batches, rates
        )
    undone = "for_all of the program follows: same_work has to undo it."
    for n in (2, 4, 1):
        batches = {
            128: f"Then the global batch is {128 * n}: a different training with fewer steps.",
            128 * n: undone,
        }
        call = f"same_work({n}) for each replica"
        rates = {0.02: undone, 0.02 * n: undone}
        check_batch_and_rate(same_work(n), call, (128 / n, 0.02 / n), batches, rates)
    return "On all n replicas together, same_work gives a batch of 128 and a rate of 0.02."


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
def check_5_4(loss_of: Function) -> str:
    """The losses of all replicas add up to the mean over the whole batch, also of unequal parts."""
    import numpy as np

    rng = np.random.default_rng(5)
    images, labels = rng.random((8, 3), np.float32), rng.integers(0, 3, 8)

    def model(images: Any, training: bool = False) -> Any:
        return images / images.sum(axis=1, keepdims=True)

    losses = -np.log(model(images)[range(8), labels])
    for batch, cuts in ((8, [4]), (8, [5]), (8, []), (6, [4])):
        parts, each = np.split(np.arange(batch), cuts), losses[:batch]
        sizes = " and ".join(str(len(part)) for part in parts)
        means = sum(losses[part].mean() for part in parts)
        mistakes = {
            means: "Each replica's mean counts as if its images were the whole batch.",
            means / 2: "That is right for two equal parts only.",
            each.sum(): "That is the sum over the whole batch, which grows with it.",
        }
        found = sum(
            number(loss_of(model, images[part], labels[part], batch), "loss_of(…)")
            for part in parts
        )
        what = f"the sum of the replicas' losses, for parts of {sizes} images"
        otherwise = "How much does one image weigh in this batch?"
        compare(found, float(each.mean()), what, mistakes, otherwise)
    return (
        "Whatever the parts, all images weigh the same. TensorFlow has a name for what you wrote: "
        "tf.nn.compute_average_loss."
    )
