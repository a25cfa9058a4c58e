"""The public checks of lesson 05: right solutions pass, each usual mistake gets its advice."""

import math

import numpy as np
import pytest
from advice import assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_05
from lessons.toolkit.checks.shared.check import checks_of


def test_every_check_has_a_number_and_says_what_it_wants():
    checks = checks_of(lesson_05)
    assert sorted(checks) == ["5.1", "5.2", "5.3", "5.4", "5.5", "5.6"]
    for check in checks.values():
        assert len(check.__doc__) > 40


# Exercise 5.2: mistakes in the program, in one process: TensorFlow is slow to import.
SCOPE = "    with strategy.scope():\n        model = build_model(name, size)\n"
COMPILE = (
    "        model.compile(\n            optimizer=keras.optimizers.SGD(lr),\n"
    '            loss="sparse_categorical_crossentropy",\n'
    '            metrics=["accuracy"],\n        )\n'
)
PROGRAM_MISTAKES = [
    (SCOPE, "    if True:\n        model = build_model(name, size)\n", "only one device trains"),
    (SCOPE, "    model = build_model(name, size)\n    with strategy.scope():\n", "Call both"),
    (COMPILE, "", "not compiled"),
    (COMPILE, COMPILE.replace("\n    ", "\n")[4:], "made outside the scope"),
    (
        SCOPE + COMPILE,
        "    made = keras.optimizers.SGD(lr)\n"
        + SCOPE
        + COMPILE.replace("keras.optimizers.SGD(lr)", "made"),
        "the call that makes the optimizer",
    ),
    ("SGD(lr)", "Adam(lr)", "keras.optimizers.SGD"),
    ("SGD(lr)", "SGD(lr * strategy.num_replicas_in_sync)", "already scaled the rate"),
    ("SGD(lr)", "SGD()", "rate lr"),
    ("    return model\n", "    return None\n", "a Keras model"),
    ('loss="sparse_', 'loss="', "The labels are numbers"),
    ('loss="sparse_categorical_crossentropy"', 'loss="mse"', "found     'mse'"),
    (
        'loss="sparse_categorical_crossentropy"',
        "loss=keras.losses.CategoricalCrossentropy()",
        "The labels are numbers",
    ),
    ('            loss="sparse_categorical_crossentropy",\n', "", "found     None"),
]
SCRIPT = f"""
import os, re, sys, types
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
from lessons.toolkit.checks import lesson_05
from lessons.toolkit.checks.shared import check
source = open("solutions/05_mirrored/train.py").read()

def said(text):
    program = types.ModuleType("train")
    exec(compile(text, "train.py", "exec"), program.__dict__)
    try:
        lesson_05.check_5_2(program)
    except check.CheckFailed as failed:
        return str(failed)
    return None

failures = 0
def expect(what, found, advice):
    global failures
    if (found is None) != (advice is None) or (advice and advice.lower() not in found.lower()):
        print(what, "expected:", advice, "got:", found)
        failures += 1

expect("right", said(source), None)
for object_of in ("SparseCategoricalCrossentropy()", "sparse_categorical_crossentropy"):
    text = source.replace('"sparse_categorical_crossentropy"', "keras.losses." + object_of)
    expect(object_of, said(text), None)
again = "    with strategy.scope():\\n        model.compile"
two_scopes = source.replace("        model.compile", again)
expect("two scopes", said(two_scopes), None)
gap = re.sub(r"( *)### BEGIN SOLUTION (.*)\\n(?:.*\\n)*? *### END SOLUTION",
             r'\\1raise NotImplementedError("\\2")', source)
expect("gap", said(gap), "still a gap")
for old, new, advice in {PROGRAM_MISTAKES!r}:
    assert source.count(old) == 1, old
    expect((old, new), said(source.replace(old, new)), advice)
sys.exit(failures)
"""


@pytest.mark.slow
def test_the_scope():
    assert_passes(SCRIPT)


# Exercise 5.3
def for_all(batch, lr, replicas):
    return batch * replicas, lr * replicas


def steps(n, per_replica, replicas):
    return math.ceil(n / (per_replica * replicas))


FOR_ALL = [
    (lambda batch, lr, n: (batch, lr * n), "share the data"),
    (lambda batch, lr, n: (batch / n, lr * n), "Multiply"),
    (lambda batch, lr, n: (lr * n, batch * n), "Return the batch first"),
    (lambda batch, lr, n: (float(batch * n), lr * n), "a whole number"),
    (lambda batch, lr, n: (batch * n, lr), "N times fewer steps"),
    (lambda batch, lr, n: (batch * n, lr / n), "Multiply"),
    (lambda batch, lr, n: (batch * n, lr * n**0.5), "square-root rule"),
    (lambda batch, lr, n: batch * n, "Return both"),
    (lambda batch, lr, n: None, "return"),
]
STEPS = [
    (lambda n, batch, replicas: math.ceil(n / batch), "per_replica x replicas"),
    (lambda n, batch, replicas: n // (batch * replicas), "round up"),
    (lambda n, batch, replicas: n / (batch * replicas), "is a whole number"),
    (lambda n, batch, replicas: math.ceil(n / batch) * replicas, "fewer steps"),
    (lambda n, batch, replicas: math.ceil(n / batch) / replicas, "once, at the end"),
    (lambda n, batch, replicas: None, "return"),
]


def test_for_all():
    lesson_05.check_5_3(for_all, steps)


@pytest.mark.parametrize(("wrong", "advice"), FOR_ALL)
def test_wrong_batch_or_rate(wrong, advice):
    assert_advice(failure(lesson_05.check_5_3, wrong, steps), advice)


@pytest.mark.parametrize(("wrong", "advice"), STEPS)
def test_wrong_steps(wrong, advice):
    assert_advice(failure(lesson_05.check_5_3, for_all, wrong), advice)


# Exercise 5.4
SAME_WORK = [
    (lambda n: (128, 0.02), "a different training"),
    (lambda n: (128 * n, 0.02 * n), "divide here"),
    (lambda n: (128 / n, 0.02 / n), "always gives a float, `//`"),
    (lambda n: (128 // n, 0.02), "multiplies by n"),
    (lambda n: (128 // n, 0.02 * n), "divide here"),
    (lambda n: (128 // n, 0.02 / n**0.5), "not by its root"),
    (lambda n: 128 // n, "Return both"),
    (lambda n: None, "return"),
]


def test_same_work():
    lesson_05.check_5_4(lambda n: (128 // n, 0.02 / n))
    lesson_05.check_5_4(lambda n: [np.int64(128) // n, np.float64(0.02) / n])
    lesson_05.check_5_4(lambda n: (int(128 / n), 0.02 / n))


@pytest.mark.parametrize(("wrong", "advice"), SAME_WORK)
def test_wrong_work(wrong, advice):
    assert_advice(failure(lesson_05.check_5_4, wrong), advice)


# Exercise 5.5
def interval(a, b):
    return (a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


INTERVALS = [
    (lambda a, b: ((a - 0.5) / (b - 0.5), (a + 0.5) / (b + 0.5)), "LARGEST denominator"),
    (lambda a, b: ((a - 1) / (b + 1), (a + 1) / (b - 1)), "half a second"),
    (lambda a, b: interval(a, b)[::-1], "swapped"),
    (lambda a, b: (a / b, a / b), "smallest when"),
    (lambda a, b: a / b, "Return both"),
]
OVERLAPS = [
    (lambda one, other: one[1] >= other[0], "Here the later interval is the first argument"),
    (
        lambda one, other: one[0] <= other[0] <= one[1],
        "The value 2.65 is in both. Here the later",
    ),
    (lambda one, other: True, "is a gap"),
    (lambda one, other: False, "is in both"),
    (lambda one, other: one[0] <= other[0] <= one[1] or one[0] <= other[1] <= one[1], "inside"),
    (lambda one, other: None, "is there a `return`"),
]


def test_intervals():
    lesson_05.check_5_5(interval, overlap)


@pytest.mark.parametrize(("wrong", "advice"), INTERVALS)
def test_wrong_intervals(wrong, advice):
    assert_advice(failure(lesson_05.check_5_5, wrong, overlap), advice)


@pytest.mark.parametrize(("wrong", "advice"), OVERLAPS)
def test_wrong_overlaps(wrong, advice):
    assert_advice(failure(lesson_05.check_5_5, interval, wrong), advice)


# Exercise 5.6
def mean_of_all(seconds):
    return sum(seconds) / len(seconds)


def apparent(one, several):
    return mean_of_all(one) / mean_of_all(several)


MEANS = [
    (lambda seconds: seconds[-1], apparent, "mean of ALL"),
    (sum, apparent, "number of epochs"),
    (lambda seconds: sum(seconds) / 2, apparent, "whatever it is"),
    (lambda seconds: None, apparent, "return"),
    (mean_of_all, lambda one, several: apparent(several, one), "Upside down"),
    (mean_of_all, lambda one, several: one[-1] / several[-1], "the true speedup"),
    (mean_of_all, lambda one, several: apparent(one, several) / 4, "efficiency"),
]


def test_means():
    lesson_05.check_5_6(mean_of_all, apparent)


@pytest.mark.parametrize(("mean", "gain", "advice"), MEANS)
def test_wrong_means(mean, gain, advice):
    assert_advice(failure(lesson_05.check_5_6, mean, gain), advice)


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
    (changed("data", images=lambda half, part, device: [device - 1, device]), "images 0 to 7"),
    (changed("data", lambda half, part, device: range(5)), "layers 0 to 3"),
    (changed("data", images=lambda half, part, device: [device, device + 4]), "Blocks in order"),
    (changed("data", images=lambda half, part, device: [device]), "two per device"),
    (changed("data", images=lambda half, part, device: range(8)), "takes a quarter"),
    (changed("data", images=lambda half, part, device: [2 * device] * 2), "occurs twice"),
    (changed("data", lambda half, part, device: [device]), "the whole network"),
    (changed("data", lambda half, part, device: range(3)), "end before b"),
    (changed("model", images=lambda half, part, device: range(7)), "end before b"),
    (changed("model", lambda half, part, device: range(4)), "one layer"),
    (changed("pipeline", images=lambda half, part, device: [2 * device, 2 * device + 1]),
     "only the times differ"),
    (changed("hybrid", lambda half, part, device: [device]), "each has two"),
    (changed("hybrid", lambda half, part, device: range(4)), "Two devices share a network"),
    (changed("hybrid", images=lambda half, part, device: range(8)), "there are two networks"),
    (changed("hybrid", images=lambda half, part, device: [2 * device, 2 * device + 1]),
     "the same half"),
    (changed("hybrid", lambda half, part, device: [2 * half, 2 * half + 1],
             lambda half, part, device: range(4 * part, 4 * part + 4)), "0 and 1 form one network"),
    (changed("hybrid", lambda half, part, device: [part, part + 2]), "0 and 1 form one network"),
    (changed("hybrid", lambda half, part, device: [half], lambda half, part, device: range(8)),
     "two layers each"),
    (lambda kind, device: holds("data", device), "one layer"),
    (lambda kind, device: holds("pipeline", device), "the whole network"),
    (lambda kind, device: [device], "Return both"),
    (lambda kind, device: (4, 2), "not their count"),
    (lambda kind, device: ("0123", "01"), "not their count"),
    (lambda kind, device: ([[0, 1, 2, 3]], [0, 1]), "each entry"),
    (lambda kind, device: None, "`return`"),
    (lambda kind, device: holds(kind, device) if kind != "hybrid" else None, 'for "hybrid", too'),
]  # fmt: skip


def test_holds():
    lesson_05.check_5_1(holds)
    lesson_05.check_5_1(lambda kind, device: [set(part) for part in holds(kind, device)])


@pytest.mark.parametrize(("wrong", "advice"), HOLDS)
def test_wrong_holdings(wrong, advice):
    assert_advice(failure(lesson_05.check_5_1, wrong), advice)
