"""Public checks of lesson 02: a serial program, and how fast it is."""

import statistics
from typing import Any
from unittest import mock

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
from lessons.toolkit.checks.shared.interval import HALF, check_interval, check_ratio

PARAMETERS = 407_050
# Numbers of parameters of wrong networks, and the mistake behind each.
OTHER_NETWORKS = {
    406_528: "The biases are missing: do not set `use_bias`.",
    669_706: "There is one hidden layer too many.",
    401_920: "The last layer is missing, with one unit for each digit.",
    7_850: "The hidden layer is missing, between the pixels and the outputs.",
    19_978: "The pixels are not flattened: begin with a Flatten layer.",
}
THIS_BATCH = "All four calls are made. Do they use this batch, and the loss of its outputs?"


@exercise("2.1")
def check_2_1(build_model: Function) -> str:
    """The network has 407,050 parameters and gives 10 probabilities for each image."""
    import numpy as np

    model = build_model("mlp512")
    if not hasattr(model, "count_params"):
        advice = "Make a model of the layers, and return it: `return keras.Sequential([…])`."
        raise CheckFailed("build_model returns a Keras model", shown(model), advice)
    if not model.built:  # train.py counts the parameters before any image goes through
        advice = "The network is above the gap: what does its first layer say about the images?"
        raise CheckFailed("a network that knows its number of parameters", "it does not", advice)
    images = np.random.default_rng(1).random((4, 28, 28), dtype=np.float32)
    outputs = np.asarray(model(images))
    parameters = model.count_params()
    if outputs.shape != (4, 10) or parameters != PARAMETERS:
        found = f"{('n', *outputs.shape[1:])} and {parameters:,}".replace("'", "")
        advice = "How many numbers does a hidden unit need for the pixels, its bias and 10 outputs?"
        advice = OTHER_NETWORKS.get(parameters, advice)
        raise CheckFailed(f"outputs (n, 10) and {PARAMETERS:,} parameters", found, advice)
    if not np.allclose(outputs.sum(axis=1), 1, atol=1e-3) or outputs.min() < 0:
        raise CheckFailed(
            "10 probabilities that sum to 1",
            f"numbers from {outputs.min():.2f}, sum {outputs.sum(axis=1).mean():.2f}",
            "Which activation turns ten scores into probabilities? Lesson 01 names it.",
        )
    activations = ", ".join(
        getattr(getattr(layer, "activation", None), "__name__", type(layer).__name__)
        for layer in model.layers
    )
    if "relu" not in activations.lower():
        advice = "Without it, two layers are a single linear map."
        raise CheckFailed("relu in the hidden layer", activations, advice)
    return f"{PARAMETERS:,} parameters; each image gets 10 probabilities."


@exercise("2.2")
def check_2_2(train_step: Function) -> str:
    """After 20 steps on one batch, the loss is at most half of its initial value."""
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    )
    x, y = torch.rand(32, 28, 28), torch.arange(32) % 10
    calls: list[str] = []
    optimizer = watched(torch.optim.Adam(model.parameters(), lr=0.003), calls)
    next(model.parameters()).register_hook(lambda gradient: calls.append("backward"))

    def loss_function(outputs: Any, labels: Any) -> Any:
        calls.append("forward")
        return torch.nn.functional.cross_entropy(outputs, labels)

    def loss_now(after: Function) -> float:
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(after(model(x)), y).item()

    nothing, softmax = torch.nn.Identity(), torch.nn.Softmax(1)
    first = loss_now(nothing)
    returned = train_step(model, optimizer, loss_function, x, y)
    check_order(calls)
    check_returned(returned, len(y))
    for _ in range(18):
        train_step(model, optimizer, loss_function, x, y)
    # The network is nearly sure now, so a second softmax makes a large difference.
    right, twice = loss_now(nothing), loss_now(softmax)
    returned = train_step(model, optimizer, loss_function, x, y)
    advice = "Leave the softmax out: the loss function contains it, and two slow the training down."
    compare(returned[0].item(), right, "the loss of step 20", {twice: advice}, THIS_BATCH)
    last = loss_now(nothing)
    if not last <= first / 2:
        raise CheckFailed(
            f"a loss of at most {first / 2:.2f} after 20 steps on one batch",
            f"{last:.2f}, from {first:.2f} at the start",
            THIS_BATCH,
        )
    return f"Loss on one batch from {first:.2f} to {last:.2f} in 20 steps."


def watched(optimizer: Any, calls: list[str]) -> Any:
    """Return the optimizer after making it record its calls in `calls`."""
    for name in ("zero_grad", "step"):
        method = getattr(optimizer, name)

        def noting(*args: Any, name: str = name, method: Function = method, **more: Any) -> Any:
            calls.append(name)
            return method(*args, **more)

        setattr(optimizer, name, noting)
    return optimizer


def check_order(calls: list[str]) -> None:
    expected = "a step that uses this batch's gradients, and no others"
    found = ", ".join(calls) or "no call at all"
    missing = {
        "forward": "The loss of this batch is missing.",
        "backward": "`loss.backward()` is missing: without it no parameter has a gradient.",
        "step": "`optimizer.step()` is missing: nothing changes the parameters.",
        "zero_grad": "`optimizer.zero_grad()` is missing: gradients add up from step to step.",
    }
    for name, advice in missing.items():
        if name not in calls:
            raise CheckFailed(expected, found, advice)
    if calls.index("step") < calls.index("backward"):
        advice = "Which gradients are there when `step` runs?"
        raise CheckFailed(expected, found, advice)
    if "zero_grad" in calls[calls.index("backward") : calls.index("step")]:
        advice = "Which gradients are left when `step` runs?"
        raise CheckFailed(expected, found, advice)


def check_returned(returned: Any, samples: int) -> None:
    expected = "train_step returns the loss and the outputs"
    advice = "End with `return loss, outputs`."
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise CheckFailed(expected, type(returned).__name__, advice)
    if not all(hasattr(part, "shape") for part in returned):
        advice = "Return both tensors unchanged: leave `.item()`, `float()` and `.numpy()` out."
        raise CheckFailed("two tensors", shown(returned), advice)
    shapes = [tuple(part.shape) for part in returned]
    if shapes != [(), (samples, 10)]:
        raise CheckFailed(f"{expected}: shapes () and ({samples}, 10)", shapes, advice)


@exercise("2.3")
def check_2_3(epoch_time: Function) -> str:
    """A slow first epoch and a disturbed one change a typical epoch's time hardly at all."""
    for seconds in ([47.0, 12.0, 5.0, 7.0, 6.0, 9.0], [3.0, 2.0, 60.0, 2.5, 2.25]):
        later = seconds[1:]
        mistakes = {
            statistics.median(seconds): "This is the middle value of all epochs. The first one "
            "includes work that no later one does.",
            statistics.mean(seconds): "This is the mean of all epochs, which the first one "
            "distorts. Which epochs are comparable?",
            statistics.mean(later): "This is the mean of the right epochs, but one disturbed epoch "
            "changes a mean. Which kind of average would hardly change?",
            min(seconds): "This is the fastest epoch, which is not typical.",
        }
        otherwise = "Which epochs are comparable? Sort them, and ask which number is typical."
        right = statistics.median(later)
        check_number(epoch_time, "epoch_time", (seconds,), right, mistakes, otherwise)
        epoch_time(given := list(seconds))
        if given != seconds:
            advice = "Leave the list as it is: the page uses it again."
            raise CheckFailed(f"the list is still {seconds}", shown(given), advice)
    return "The first epoch does not count, and a disturbed epoch changes little."


@exercise("2.4")
def check_2_4(interval: Function, throughput_interval: Function) -> str:
    """A ratio of rounded times is an interval, and so is a throughput."""
    for a, b in ((9, 4), (22, 6)):
        check_ratio(interval, a, b)
    for samples, time in ((50_000, 42), (1_000, 3)):
        low, high = time - 0.5, time + 0.5
        per_sample = "These are seconds per sample, not samples per second."
        mistakes = {
            (samples / (time + 1), samples / (time - 1)): HALF,
            (high / samples, low / samples): per_sample,
            (low / samples, high / samples): per_sample,
        }
        call, right = f"throughput_interval({samples}, {time})", (samples / high, samples / low)
        otherwise = f"How long can {time} s have been at most? Is the throughput low or high then?"
        found = pair(throughput_interval(samples, time), call)
        check_interval(found, right, call, otherwise, mistakes)
    return "9 s / 4 s is in [1.89, 2.71]; 42 s gives [1176, 1205] images/s."


SECONDS = {"a": [50.0, 2.0, 3.0, 40.0, 3.0, 4.0], "b": [9.0, 5.0, 5.0, 5.0, 7.0, 5.0]}
LATER = {name: seconds[1:] for name, seconds in SECONDS.items()}


@exercise("2.5")
def check_2_5(medians: Function) -> str:
    """Two functions are called once untimed, and then take turns in five timed rounds."""
    calls: list[str] = []
    now = 0.0

    def work_of(name: str) -> Function:
        def work() -> None:
            nonlocal now
            now += SECONDS[name][min(calls.count(name), 5)]
            calls.append(name)

        return work

    names = ("perf_counter", "monotonic", "time", "process_time")
    clocks: dict[str, Any] = {name: lambda: now for name in names}
    clocks |= {f"{name}_ns": lambda: round(now * 1e9) for name in names}
    own = getattr(medians, "__globals__", {})  # `from time import perf_counter`
    imported = {name: clock for name, clock in clocks.items() if callable(own.get(name))}
    with mock.patch.multiple("time", **clocks), mock.patch.dict(own, imported):
        found = medians({name: work_of(name) for name in SECONDS}, 5)
    check_turns(calls)
    if not isinstance(found, dict) or set(found) != set(SECONDS):
        advice = "Return a dictionary with a number for each name in `works`."
        raise CheckFailed(f"a dictionary with the keys {list(SECONDS)}", shown(found), advice)
    for name, later in LATER.items():
        mistakes = {
            statistics.mean(later): "This is the mean, which one disturbed call changes.",
            min(later): "This is the fastest call, which is not typical.",
            sum(later): "This is the sum over the rounds.",
            statistics.median(SECONDS[name]): "The first call of each function does not count.",
            statistics.median(LATER["a"] + LATER["b"]): "All functions fill the same list.",
        }
        otherwise = "Read `time.perf_counter()` right before and right after each call."
        what = f"seconds of a work whose calls take {SECONDS[name]}"
        compare(
            number(found[name], "medians(…)"), statistics.median(later), what, mistakes, otherwise
        )
    return "A slow first call and a disturbed call change nothing."


def check_turns(calls: list[str]) -> None:
    expected = "each function once, then 5 rounds with one call of each"
    turns = ["".join(sorted(calls[at : at + 2])) for at in range(0, len(calls), 2)]
    if turns == ["ab"] * 6:
        return
    advice = "In each round, go through all functions: a loop within a loop."
    if len(calls) == 10:
        advice = "Call each function once before the rounds, without timing it."
    elif len(calls) != 12:
        advice = "`rounds` is the number of timed calls of each function."
    raise CheckFailed(expected, "".join(calls) or "no call at all", advice)
