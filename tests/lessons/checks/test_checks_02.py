"""The public checks of lesson 02: right solutions pass, each usual mistake gets its advice."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from time import perf_counter

import pytest
from advice import assert_advice, failure

from lessons.toolkit.checks import lesson_02

ROOT = Path(__file__).parents[3]

# Exercises 2.3 and 2.4: (function, wrong solution, what the advice must be about)
RIGHT = {
    "epoch_time": lambda seconds: statistics.median(seconds[1:]),
    "interval": lambda a, b: ((a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)),
    "throughput_interval": lambda n, s: (n / (s + 0.5), n / (s - 0.5)),
}
CHECKS = {
    lesson_02.check_2_3: ("epoch_time",),
    lesson_02.check_2_4: ("interval", "throughput_interval"),
}
WRONG = [
    ("epoch_time", lambda s: statistics.mean(s), "mean of all epochs"),
    ("epoch_time", lambda s: statistics.mean(s[1:]), "mean of the right epochs"),
    ("epoch_time", lambda s: statistics.median(s), "no later one does"),
    ("epoch_time", lambda s: (s.pop(0), statistics.median(s))[1], "leave the list"),
    ("interval", lambda a, b: (8.5 / 4.5, 9.5 / 3.5), "22 s have been"),
    ("throughput_interval", lambda n, s: (50_000 / 42.5, 50_000 / 41.5), "3 s have been"),
    ("interval", lambda a, b: ((a - 0.5) / (b - 0.5), (a + 0.5) / (b + 0.5)), "LARGEST"),
    ("interval", lambda a, b: ((a + 0.5) / (b - 0.5), (a - 0.5) / (b + 0.5)), "swapped"),
    ("throughput_interval", lambda n, s: (n / (s - 0.5), n / (s + 0.5)), "swapped"),
    ("throughput_interval", lambda n, s: (n / (s + 1), n / (s - 1)), "half a second"),
    ("throughput_interval", lambda n, s: ((s + 0.5) / n, (s - 0.5) / n), "seconds per sample"),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.number)
def test_right_functions_pass(check):
    check(*(RIGHT[name] for name in CHECKS[check]))


@pytest.mark.parametrize(("name", "function", "advice"), WRONG)
def test_each_wrong_function_gets_its_advice_and_not_the_solution(name, function, advice):
    [check] = [check for check, names in CHECKS.items() if name in names]
    failed = failure(check, *({**RIGHT, name: function}[n] for n in CHECKS[check]))
    assert_advice(failed, advice)
    assert "[1:]" not in str(failed)
    assert "median" not in str(failed)


# Exercise 2.5
def timer(
    warm_up=True,
    in_turn=True,
    average=statistics.median,
    first=1,
    clock=lambda: time.perf_counter(),
):
    """Return a timer, which may have a mistake."""

    def medians(works, rounds):
        seconds = {name: [] for name in works}

        def call(name):
            start = clock()
            works[name]()
            seconds[name].append(clock() - start)

        calls = list(works) * (rounds + warm_up)
        for name in calls if in_turn else sorted(calls):
            call(name)
        return {name: average(found[first:]) for name, found in seconds.items()}

    return medians


def in_one_list(works, rounds):
    shared = []
    lists = dict.fromkeys(works, shared)
    for count in range(rounds + 1):
        for name in works:
            start = time.perf_counter()
            works[name]()
            lists[name] += [time.perf_counter() - start] * (count > 0)
    return {name: statistics.median(found) for name, found in lists.items()}


TIMERS = [
    ({"warm_up": False, "first": 0}, "before the rounds"),
    ({"in_turn": False}, "a loop within a loop"),
    ({"average": statistics.mean}, "one disturbed call"),
    ({"average": min}, "fastest"),
    ({"average": sum}, "sum over the rounds"),
    ({"first": 0}, "does not count"),
]


@pytest.mark.parametrize("clock", [lambda: perf_counter(), lambda: time.monotonic_ns() / 1e9])
def test_a_timer_passes(clock):
    lesson_02.check_2_5(timer())
    lesson_02.check_2_5(timer(clock=clock))


@pytest.mark.parametrize(("mistake", "advice"), TIMERS)
def test_each_wrong_timer_gets_its_advice(mistake, advice):
    assert_advice(failure(lesson_02.check_2_5, timer(**mistake)), advice)


def test_a_list_that_all_functions_fill_is_named():
    assert_advice(failure(lesson_02.check_2_5, in_one_list), "the same list")


# Exercise 2.2
def torch_step(lines):
    """Return a training step made of these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    scope = {}
    exec(f"def train_step(model, optimizer, loss_function, x, y):\n{body}", scope)
    return scope["train_step"]


ZERO, FORWARD, LOSS = (
    "optimizer.zero_grad()",
    "outputs = model(x)",
    "loss = loss_function(outputs, y)",
)
BACKWARD, STEP, RETURN = "loss.backward()", "optimizer.step()", "return loss, outputs"
STEPS = [
    ([FORWARD, LOSS, BACKWARD, STEP, RETURN], "zero_grad()` is missing"),
    ([ZERO, FORWARD, LOSS, STEP, RETURN], "backward()` is missing"),
    ([ZERO, FORWARD, LOSS, BACKWARD, RETURN], "step()` is missing"),
    ([ZERO, "outputs = model(x).softmax(1)", LOSS, BACKWARD, STEP, RETURN], "softmax out"),
    ([ZERO, FORWARD, LOSS, BACKWARD, STEP], "`return loss, outputs`"),
    ([ZERO, FORWARD, "loss = loss_function(y, outputs)"], "in line 4 of train_step"),
]


@pytest.mark.parametrize(("lines", "advice"), STEPS)
def test_training_steps_that_do_not_train(lines, advice):
    assert_advice(failure(lesson_02.check_2_2, torch_step(lines)), advice)


@pytest.mark.parametrize(
    "lines",
    [
        [ZERO, FORWARD, LOSS, BACKWARD, STEP, RETURN],
        [FORWARD, LOSS, ZERO, BACKWARD, STEP, RETURN],
        [FORWARD, LOSS, BACKWARD, STEP, ZERO, RETURN],
    ],
)
def test_orders_of_a_training_step_that_train(lines):
    lesson_02.check_2_2(torch_step(lines))


# Exercise 2.1, in one process of its own: TensorFlow takes seconds to import.
NETWORKS = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from lessons.toolkit.checks.lesson_02 import check_2_1
L, S = tf.keras.layers, tf.keras.Sequential
first, hidden = L.Flatten(input_shape=(28, 28)), L.Dense(512, activation="relu")
networks = [
    ([hidden, L.Dense(10, "softmax")], None),
    ([L.Dense(512), L.ReLU(), L.Dense(10), L.Softmax()], None),
    ([L.Dense(64, "relu"), L.Dense(10, "softmax")], "a hidden unit"),
    ([L.Dense(512, "relu"), L.Dense(10)], "into probabilities"),
    ([L.Dense(512, "relu"), L.Dense(10, "sigmoid")], "into probabilities"),
    ([L.Dense(512), L.Dense(10, "softmax")], "relu in the hidden"),
    ([L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(10, "softmax")], "too many"),
    ([L.Dense(512, "relu")], "last layer is missing"),
    ([L.Dense(10, "softmax")], "hidden layer is missing"),
    ([L.Dense(512, "relu", use_bias=False), L.Dense(10, "softmax", use_bias=False)], "biases"),
]
failures = 0
def check(build, advice):
    try:
        check_2_1(build)
        said = None
    except Exception as failed:
        said = str(failed)
    if (said is None) != (advice is None) or (advice and advice not in said):
        print("expected", advice, "got", said)
        globals()["failures"] += 1

for layers, advice in networks:
    check(lambda name: S([L.Flatten(input_shape=(28, 28)), *layers]), advice)
flat = S([L.InputLayer((28, 28)), L.Dense(512, "relu"), L.Dense(10, "softmax")])
check(lambda name: flat, "not flattened")
check(lambda name: S([L.Flatten(), L.Dense(512, "relu"), L.Dense(10, "softmax")]), "above the gap")
check(lambda name: None, "Keras model")

def unset(name):
    if name == "cnn":
        layers = []
    return S(layers)
check(unset, "before it has a value")
raise SystemExit(failures)
"""


@pytest.mark.slow
def test_networks():
    environ = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    command = [sys.executable, "-c", NETWORKS]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
