"""Public checks of lesson 05: MirroredStrategy on one node."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from lessons.toolkit.checks.check import (
    CheckFailed,
    compare,
    exercise,
    number,
    pair,
    shown,
)
from lessons.toolkit.checks.lesson_02 import check_interval

Function = Callable[..., Any]
Held = tuple[list[Any], list[Any]]  # layers and images of a device


@exercise("5.1")
def check_5_1(program: Any) -> str:
    """Every variable has a copy on both replicas, those of the optimizer included."""
    import numpy as np

    program.tf.get_logger().setLevel("WARNING")  # it tells about every exchange otherwise
    strategy = program.tf.distribute.MirroredStrategy(program.devices(2))
    try:
        model = program.build_mirrored(strategy, "cnn", 32, 0.03)
    except ValueError as error:
        if "scope" not in str(error):
            raise
        advice = "Into the same `with strategy.scope():` go both build_model and model.compile."
        found = "variables that were created outside of it"
        raise CheckFailed("everything created in one scope", found, advice) from None
    if not hasattr(model, "fit"):
        advice = "Inside the scope: `model = build_model(name, size)`, then model.compile(…)."
        raise CheckFailed("a Keras model", shown(model), advice)
    fewest = min(len(program.copies(strategy, variable)) for variable in model.variables)
    if fewest != 2:
        advice = "Build inside `with strategy.scope():`. Outside of it one device trains alone."
        raise CheckFailed("2 copies of every variable", f"{fewest}", advice)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        advice = "model.compile(optimizer=…, loss=…, metrics=[…]) inside the scope."
        raise CheckFailed("a compiled model", "it is not compiled", advice)
    # compile enters the model's scope by itself; the optimizer is made before, in its arguments.
    made = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    fewest = min((len(program.copies(strategy, variable)) for variable in made), default=2)
    if fewest != 2:
        advice = "Into the scope as well: model.compile(…), and the call that makes the optimizer."
        found = f"{fewest} of the optimizer's counter of steps: it was made outside of the scope"
        raise CheckFailed("2 copies of every variable", found, advice)
    if "SGD" not in type(optimizer).__name__:
        found = type(optimizer).__name__
        raise CheckFailed("SGD", found, "Lesson 03 trains with keras.optimizers.SGD(lr).")
    rate = optimizer.learning_rate
    rate = float(rate.numpy() if hasattr(rate, "numpy") else rate)
    compare(
        number(rate, "the learning rate"),
        0.03,
        "rate of the optimizer for lr 0.03",
        {0.06: "for_all scales the rate already: take lr as it is.", 0.01: "Give SGD the rate lr."},
        "keras.optimizers.SGD(lr)",
    )
    asked = "sparse_categorical_crossentropy"
    loss = model.loss or None  # Keras gives {} where none was named
    loss = getattr(loss, "name", None) or getattr(loss, "__name__", loss)
    if loss != asked:
        advice = f"The labels are numbers, not rows of ten: {asked}, as in lesson 03."
        raise CheckFailed(f"loss {asked}", shown(loss), advice)
    images = np.zeros((4, 32, 32, 3), np.float32)
    model.fit(images, np.zeros(4), batch_size=4, verbose=0)
    spread = max(np.ptp(program.copies(strategy, v), axis=0).max() for v in model.variables)
    if spread > 1e-6:
        raise CheckFailed("equal copies after a step", f"a difference of {spread:g}", "Use fit.")
    return f"{len(model.variables)} variables, two copies of each, equal after a step."


@exercise("5.2")
def check_5_2(for_all: Function, steps: Function) -> str:
    """Batch and rate times N; 25, 13 and 7 steps at batch 2,048 on 1, 2 and 4 replicas."""
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
                128: "This is the batch of one replica. The data set is divided among all: x N.",
                128 / replicas: "Multiply: each replica keeps its batch, the global one grows.",
                0.01: "First the batch, then the rate.",
            },
        )
        compare(
            rate,
            0.01 * replicas,
            f"rate of {what}",
            {
                0.01: "The mean is over N times the images, with N times fewer steps: rate x N.",
                0.01 / replicas: "Multiply.",
                0.01 * replicas**0.5: "The square root rule comes in lesson 09; here x N.",
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
                50_000 / (2048 * replicas): "There is no part of a step: round up.",
                25 * replicas: "More replicas, fewer steps: divide.",
                25 / replicas: "Round up once, at the end.",
            },
        )
    return "Global batch and rate grow with N; 25, 13, 7 steps."


def whole_number(batch: Any, what: str) -> None:
    """A program's --batch-size refuses 64.0."""
    if not isinstance(batch, Integral):
        advice = "A batch counts images: `/` always gives a float, `//` keeps a whole number whole."
        raise CheckFailed(f"{what}: a whole number", shown(batch), advice)


@exercise("5.3")
def check_5_3(same_work: Function) -> str:
    """n replicas together have batch 128 and rate 0.02."""
    for n in (1, 2, 4):
        batch, rate = pair(same_work(n), f"same_work({n})", ("batch", "rate"))
        compare(
            batch,
            128 / n,
            f"batch of each of {n} replicas",
            {
                128: f"Then the global batch is {128 * n}: another training, with fewer steps.",
                128 * n: "The program multiplies by n, so divide here.",
            },
        )
        whole_number(same_work(n)[0], f"batch of each of {n} replicas")
        compare(
            rate,
            0.02 / n,
            f"rate of each of {n} replicas",
            {
                0.02: f"The program multiplies by n: the rate would be {0.02 * n:g}.",
                0.02 * n: "The program multiplies by n, so divide here.",
                0.02 / n**0.5: "The program multiplies by n, not by its root.",
            },
        )
    return "128 and 0.02, 64 and 0.01, 32 and 0.005."


EITHER_FIRST = "Here the later one is named first: two comparisons are needed."


@exercise("5.4")
def check_5_4(interval: Function, overlap: Function) -> str:
    """9 s / 4 s lies in [1.89, 2.71]; intervals overlap when they share a value."""
    for a, b in ((9, 6), (9, 4), (27, 16), (27, 8)):
        check_interval(
            pair(interval(a, b), f"interval({a}, {b})"),
            ((a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)),
            f"interval({a}, {b})",
            f"The speedup is smallest when {a} was {a - 0.5} and {b} was {b + 0.5}.",
            {
                ((a - 0.5) / (b - 0.5), (a + 0.5) / (b + 0.5)): "Both err on their own: the "
                "smallest ratio has the smallest numerator and the LARGEST denominator.",
                ((a - 1) / (b + 1), (a + 1) / (b - 1)): "Rounding errs by half a second.",
            },
        )
    cases = [
        ((1.89, 2.71), (2.60, 3.00), True, "The value 2.65 lies in both."),
        ((2.60, 3.00), (1.89, 2.71), True, f"The value 2.65 lies in both. {EITHER_FIRST}"),
        ((1.0, 2.0), (3.0, 4.0), False, "All from 2 to 3 lies between them."),
        ((3.0, 4.0), (1.0, 2.0), False, f"All from 2 to 3 lies between them. {EITHER_FIRST}"),
        ((1.0, 4.0), (2.0, 3.0), True, "One lies within the other."),
        ((2.0, 3.0), (1.0, 4.0), True, "One lies within the other."),
    ]
    for one, other, right, why in cases:
        found = overlap(one, other)
        if found is None:
            why = "Is there a `return` in front of it?"
        if found is None or bool(found) != right:
            raise CheckFailed(f"overlap({one}, {other}) is {right}", shown(found), why)
    return "9 s / 4 s lies in [1.89, 2.71]. Where two overlap, either may be the larger one."


@exercise("5.5")
def check_5_5(mean_of_all: Function, apparent: Function) -> str:
    """With the first epoch in the mean, 31 and 12 s look faster than 49 and 6 s: 21.5 and 27.5."""
    for seconds in ([31, 12], [49, 6], [63, 33, 33]):
        right = sum(seconds) / len(seconds)
        compare(
            number(mean_of_all(list(seconds)), f"mean_of_all({seconds})"),
            right,
            f"mean_of_all({seconds})",
            {
                seconds[
                    -1
                ]: "That is how it should be done. Here: what the mean of ALL epochs says.",
                sum(seconds): "Divide by the number of epochs.",
                sum(seconds) / 2: "Divide by the number of epochs, whatever it is.",
            },
        )
    compare(
        number(apparent([31, 12], [49, 6]), "apparent([31, 12], [49, 6])"),
        21.5 / 27.5,
        "apparent([31, 12], [49, 6])",
        {
            27.5 / 21.5: "Upside down: the base's time is above.",
            12 / 6: "That is the true one, without the first epochs. Here: the apparent one.",
            21.5 / 27.5 / 4: "That is the efficiency.",
        },
    )
    return "21.5 s / 27.5 s = 0.78, where the true speedup is 2."


LAYERS, IMAGES = list(range(4)), list(range(8))
WHO_HOLDS = {
    "data": "Each device has the whole network and a quarter of the batch.",
    "model": "Each device has one layer, and every image passes through it.",
    "pipeline": "As with model parallelism; only the times differ.",
    "hybrid": "Two devices share a network, two layers each; each pair has half the batch.",
}


@exercise("5.6")
def check_5_6(holds: Function) -> str:
    """Who holds which layers and which images, for four ways to divide."""
    for device in range(4):
        half, part = divmod(device, 2)
        quarter, two = [2 * device, 2 * device + 1], [2 * part, 2 * part + 1]
        right: dict[str, Held] = {
            "data": (LAYERS, quarter),
            "model": ([device], IMAGES),
            "pipeline": ([device], IMAGES),
            "hybrid": (two, IMAGES[4 * half : 4 * half + 4]),
        }
        for kind, wanted in right.items():
            found = held(holds(kind, device), kind)
            if found != wanted:
                raise CheckFailed(
                    f"{kind}, device {device}: layers {wanted[0]}, images {wanted[1]}",
                    f"layers {shown(found[0])}, images {shown(found[1])}",
                    advice_for(found, wanted, kind, device),
                )
    return "All layers and a part of the batch, or some layers and the whole batch, or both."


def held(found: Any, kind: str) -> Held:
    """What a device holds, as two lists in order."""
    if found is None:
        advice = f'Is there a `return` for "{kind}", too?'
        raise CheckFailed("two lists, layers and images", "None", advice)
    if not isinstance(found, tuple | list) or len(found) != 2:
        advice = "Return both: `return layers, images`."
        raise CheckFailed("two lists, layers and images", shown(found), advice)
    for part in found:
        if isinstance(part, str) or not isinstance(part, Iterable):
            advice = "Which ones, not how many: a list, such as [0, 1]."
            raise CheckFailed("a list of numbers", shown(part), advice)
    numbers = [sorted(number(n, f'each entry of "{kind}"') for n in part) for part in found]
    layers, images = ([int(n) if n == int(n) else n for n in part] for part in numbers)
    return layers, images


def advice_for(found: Held, right: Held, kind: str, device: int) -> str:
    """What is usually meant by layers and images that are wrong."""
    layers, images = found
    if found == right[::-1]:
        return "They are exchanged: first the layers, then the images."
    if layers == [n + 1 for n in right[0]] or images == [n + 1 for n in right[1]]:
        return "Layers and images are counted from 0."
    if not set(layers) <= set(LAYERS) or not set(images) <= set(IMAGES):
        return "There are layers 0 to 3 and images 0 to 7."
    if any(len(set(part)) < len(part) for part in found):
        return "One is there twice: each layer and each image once."
    quarter = (2 * device, 2 * device + 1)
    usual = {
        ("data", "images", (device,)): "Eight images on four devices are two for each.",
        ("data", "images", (device, device + 4)): "Blocks in order: device 0 has images 0 and 1.",
        ("data", "images", tuple(IMAGES)): "Then all do the same work: each takes its quarter.",
        ("hybrid", "layers", (device,)): "Two devices share four layers: two each.",
        ("hybrid", "layers", tuple(LAYERS)): "A network lies on two devices: two layers each.",
        ("hybrid", "images", quarter): "Both devices of a network need the same half of the batch.",
        ("hybrid", "images", tuple(IMAGES)): "There are two networks: each takes half the batch.",
    }
    parts = zip(("layers", "images"), found, right, strict=True)
    wrong = [(kind, name, tuple(part)) for name, part, asked in parts if part != asked]
    if len(wrong) == 1 and wrong[0] in usual:
        return usual[wrong[0]]
    if len(wrong) == 1 and (layers == right[0][:-1] or images == right[1][:-1]):
        return "One too few: range(a, b) and [a:b] end before b."
    if kind == "hybrid":
        return f"Devices 0 and 1 form one network, 2 and 3 another one. {WHO_HOLDS[kind]}"
    return WHO_HOLDS[kind]
