"""Public checks of lesson 02: a serial program, and how fast it is."""

import statistics
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, pair, shown
from lessons.toolkit.checks.shared.interval import check_interval

Function = Callable[..., Any]

PARAMETERS = 407_050
# Numbers of parameters of wrong networks, and the mistake behind each.
OTHER_NETWORKS = {
    406_528: "The biases are missing: do not set `use_bias`.",
    669_706: "There is one hidden layer of 512 units too many.",
    401_920: "The last layer is missing: 10 units, one for each digit.",
    7_850: "The hidden layer is missing: 512 units between the pixels and the 10 outputs.",
    19_978: "The pixels are not flattened: begin with a Flatten layer.",
}


@exercise("2.1")
def check_2_1(build_model: Function) -> str:
    """The network has 407,050 parameters and gives 10 probabilities for each image."""
    import numpy as np

    model = build_model("mlp512")
    if not hasattr(model, "count_params"):
        raise CheckFailed(
            "build_model returns a Keras model",
            repr(type(model).__name__),
            "`layers` is the list of layers. The function's last line makes a model of it.",
        )
    if not model.built:  # train.py counts the parameters before any image goes through
        raise CheckFailed(
            "a network that knows the number of its parameters",
            "it does not know the shape of its input yet",
            "Write `input_shape=(28, 28)` in the first layer.",
        )
    images = np.random.default_rng(1).random((4, 28, 28), dtype=np.float32)
    outputs = np.asarray(model(images))
    parameters = model.count_params()
    shape = f"an output of shape (n, 10) and {PARAMETERS:,} parameters"
    found = f"{('n', *outputs.shape[1:])} and {parameters:,}".replace("'", "")
    if outputs.ndim != 2:
        advice = OTHER_NETWORKS[19_978]
    elif outputs.shape[1] != 10:
        advice = "The last layer needs 10 units, one for each digit."
    else:
        units, rest = divmod(parameters - 10, 784 + 1 + 10)
        advice = f"The hidden layer has {units} units; it should have 512."
        if rest or units == 512:
            advice = "Hidden layer: 784 x 512 weights + 512 biases. Last: 512 x 10 + 10."
    if outputs.ndim != 2 or outputs.shape[1] != 10 or parameters != PARAMETERS:
        raise CheckFailed(shape, found, OTHER_NETWORKS.get(parameters, advice))

    if not np.allclose(outputs.sum(axis=1), 1, atol=1e-3) or outputs.min() < 0:
        raise CheckFailed(
            "10 probabilities that sum to 1",
            f"numbers from {outputs.min():.2f} to {outputs.max():.2f}, "
            f"sum {outputs.sum(axis=1).mean():.2f}",
            'The last layer needs activation="softmax".',
        )
    bends = how_it_bends(lambda x: np.log(np.asarray(model(x), dtype=np.float64)), images)
    if bends != "relu":
        raise CheckFailed(
            'activation="relu" in the hidden layer',
            "no activation: without one, two layers are a single linear map"
            if bends == "straight"
            else "another activation",
            'Give the hidden layer activation="relu".',
        )
    return f"{PARAMETERS:,} parameters; each image gets 10 probabilities."


def how_it_bends(log_probabilities: Function, images: Any) -> str:
    """Return "straight", "relu" or "other", judged by outputs for sums and multiples of inputs.

    All biases are initially 0. A linear network therefore maps a sum of inputs to the sum of their
    outputs. A network with relu does not preserve sums, but doubling its input still doubles its
    output.
    """
    import numpy as np

    def scores(x: Any) -> Any:
        values = log_probabilities(x)
        return values - values.mean(axis=1, keepdims=True)

    a, b = images[:2], images[2:]
    size = np.abs(scores(a)).max()
    sums = np.abs(scores(a - b) - scores(a) + scores(b)).max() / size
    doubles = np.abs(scores(2 * a) - 2 * scores(a)).max() / size
    if sums < 1e-3:
        return "straight"
    return "relu" if doubles < 1e-3 else "other"


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

    with torch.no_grad():
        first = torch.nn.functional.cross_entropy(model(x), y).item()
    returned = train_step(model, optimizer, loss_function, x, y)
    check_order(calls)
    check_returned(returned, tuple(y.shape))
    for _ in range(19):
        train_step(model, optimizer, loss_function, x, y)
    with torch.no_grad():
        last = torch.nn.functional.cross_entropy(model(x), y).item()
    if not last <= first / 2:
        raise CheckFailed(
            f"a loss of at most {first / 2:.2f} after 20 steps on one batch",
            f"{last:.2f}, from {first:.2f} at the start",
            "All four calls are made. Do they use this batch, and the loss of its outputs?",
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
    expected = "zero_grad, forward, backward, step"
    found = ", ".join(calls) or "no call at all"
    advice = {
        "forward": "`loss = loss_function(outputs, y)` with `outputs = model(x)` is missing.",
        "backward": "`loss.backward()` is missing: without it no parameter has a gradient.",
        "step": "`optimizer.step()` is missing: nothing changes the parameters.",
        "zero_grad": "`optimizer.zero_grad()` is missing: gradients add up from step to step.",
    }
    for name, missing in advice.items():
        if name not in calls:
            raise CheckFailed(expected, found, missing)
    if "zero_grad" in calls[calls.index("backward") : calls.index("step")]:
        raise CheckFailed(
            expected,
            found,
            "`zero_grad` throws the new gradients away before `step` uses them: call it first.",
        )
    if calls.index("step") < calls.index("backward"):
        raise CheckFailed(
            expected, found, "`step` needs the gradients: call `loss.backward()` first."
        )


def check_returned(returned: Any, samples: tuple[int, ...]) -> None:
    expected = "train_step returns the loss and the outputs"
    advice = "End with `return loss, outputs`."
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise CheckFailed(expected, type(returned).__name__, advice)
    loss, outputs = returned
    shape = tuple(getattr(outputs, "shape", ()))
    loss_shape = getattr(loss, "shape", None)
    if loss_shape is None:
        advice = "Return the tensor itself: leave `.item()`, `float()` and `.numpy()` out."
        raise CheckFailed("the loss is a tensor with one number", named(loss), advice)
    if tuple(loss_shape) == (*samples, 10) and shape == ():
        raise CheckFailed(expected, "the outputs and the loss, in this order", advice)
    if tuple(loss_shape) != ():
        asked = "the loss is a tensor with one number"
        raise CheckFailed(asked, f"a tensor of shape {tuple(loss_shape)}", advice)
    if shape != (*samples, 10):
        asked = f"the outputs are a tensor of shape {(*samples, 10)}"
        found = f"a tensor of shape {shape}" if hasattr(outputs, "shape") else named(outputs)
        raise CheckFailed(asked, found, "Return the result of `model(x)` unchanged.")


def named(value: Any) -> str:
    """Describe a value in terms that a student knows: its type and the value itself."""
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}: {shown(value)}"


@exercise("2.3")
def check_2_3(
    epoch_time: Function, throughput: Function, speedup: Function, efficiency: Function
) -> str:
    """A typical epoch of six; 50,000 images in 42 s; 14, 8 and 5 s on 1, 2 and 4 GPUs."""
    for seconds in ([47.0, 12.0, 5.0, 7.0, 6.0, 9.0], [3.0, 2.0, 60.0, 2.5, 2.25]):
        check_typical(epoch_time, seconds)
    for samples, time in ((50_000, 42), (12_800, 1.6)):
        compare(
            number(throughput(samples, time), f"throughput({samples}, {time})"),
            samples / time,
            f"throughput({samples}, {time})",
            {
                time / samples: "This is seconds per sample. Throughput is samples per second.",
                (samples + 10_000)
                / time: "This counts the 10,000 test images. Were they used for training?",
                samples * time: "Twice the time for the same samples is half the throughput.",
            },
            "How many samples in one second?",
        )
    check_ratios(speedup, efficiency)
    return "42 s are 1,190 images/s; 14, 8, 5 s are speedups 1, 1.75, 2.80, efficiency 0.70 on 4."


def check_typical(epoch_time: Function, seconds: list[float]) -> None:
    later = seconds[1:]
    compare(
        number(epoch_time(list(seconds)), f"epoch_time({seconds})"),
        statistics.median(later),
        f"epoch_time({seconds})",
        {
            statistics.median(seconds): (
                "This is the middle value of all epochs. The first one includes work that no "
                "later one "
                "does."
            ),
            statistics.mean(seconds): (
                "This is the mean of all epochs, which the first one distorts. Which epochs are "
                "comparable?"
            ),
            statistics.mean(later): "This is the mean of the right epochs, but one disturbed epoch "
            "changes a mean. Which kind of average would hardly change?",
            min(seconds): "This is the fastest epoch, which is not typical.",
            seconds[0]: "This is the first epoch, which includes compiling the network and reading "
            "uncached files.",
            max(later): "This is the slowest of the later epochs. Which time is typical of them?",
            seconds[
                -1
            ]: "This is the last epoch alone. Which time is typical of all epochs that count?",
            sum(seconds): "The sum of all epochs is the time of the run.",
            sum(later): "This is the sum of several epochs. How long is one typical epoch?",
        },
        "Which epochs are comparable? Sort them, and ask which number is typical.",
    )


def check_ratios(speedup: Function, efficiency: Function) -> None:
    for base, time, right in ((14, 8, 1.75), (14, 5, 2.8), (14, 14, 1.0)):
        compare(
            number(speedup(base, time), f"speedup({base}, {time})"),
            right,
            f"speedup({base}, {time})",
            {
                time / base: "This ratio is upside down: divide the base's time by the new time.",
                base - time: "This is the difference. A speedup is a ratio.",
                (base - time) / base: "This is the share of time saved. A speedup is base ÷ time.",
            },
        )
    for base, time, devices, right in ((14, 5, 4, 0.7), (14, 8, 2, 0.875)):
        compare(
            number(efficiency(base, time, devices), f"efficiency({base}, {time}, {devices})"),
            right,
            f"efficiency({base}, {time}, {devices})",
            {
                base / time: "This is the speedup. Divide it by the number of devices.",
                100 * right: "Return a fraction, not a percentage.",
                base / time * devices: "Divide by the number of devices instead of multiplying.",
                time / base / devices: "The speedup is upside down: use base ÷ time.",
                time / base * devices: "This is upside down: speedup ÷ devices.",
            },
        )


@exercise("2.4")
def check_2_4(interval: Function, throughput_interval: Function) -> str:
    """9 s and 4 s mean a ratio from 1.89 to 2.71; 42 s means 1,176 to 1,205 images/s."""
    check_interval(
        pair(interval(9, 4), "interval(9, 4)"),
        (8.5 / 4.5, 9.5 / 3.5),
        "interval(9, 4)",
        "The ratio is smallest if 9 s was 8.5 s and 4 s was 4.5 s, and largest if they were 9.5 "
        "s and 3.5 s.",
        {
            (8.5 / 3.5, 9.5 / 4.5): "The numerator and the denominator are rounded "
            "independently: the smallest ratio has the smallest "
            "numerator and the LARGEST denominator.",
            (9.5 / 4.5, 8.5 / 3.5): "The numerator and the denominator are rounded "
            "independently: the smallest ratio has the smallest "
            "numerator and the LARGEST denominator.",
            (
                8 / 5,
                10 / 3,
            ): "Rounding changes a time by at most half a second, not by a whole one.",
            (9 / 5, 10 / 4): "That is truncation. This log rounds: 9 s means 8.5 to 9.5.",
            (8.5 / 4, 9.5 / 4): "The 4 s are rounded, too.",
            (9 / 4.5, 9 / 3.5): "The 9 s are rounded, too.",
        },
    )
    check_interval(
        pair(throughput_interval(50_000, 42), "throughput_interval(50000, 42)"),
        (50_000 / 42.5, 50_000 / 41.5),
        "throughput_interval(50000, 42)",
        "The longest time that 42 s can mean, 42.5, gives the lowest throughput.",
        {
            (
                50_000 / 43,
                50_000 / 41,
            ): "Rounding changes a time by at most half a second, not by a whole one.",
            (50_000 / 43, 50_000 / 42): "That is truncation. 42 s means 41.5 to 42.5.",
            (42.5 / 50_000, 41.5 / 50_000): "These are seconds per sample, not samples per second.",
        },
    )
    return "9 s / 4 s is in [1.89, 2.71]; 42 s gives [1176, 1205] images/s."


@exercise("2.5")
def check_2_5(seconds_from_us: Function) -> str:
    """152, 97 and 64 microseconds per sample are 9.12, 5.82 and 3.84 s per epoch of 60,000."""
    for us in (152, 97, 64):
        compare(
            number(seconds_from_us(us, 60_000), f"seconds_from_us({us}, 60000)"),
            us * 0.06,
            f"seconds_from_us({us}, 60000)",
            {
                us * 60_000: "These are microseconds. A second has a million of them.",
                us * 60: "Divided by 1,000 they are milliseconds. A second has 1,000,000 us.",
                us / 60_000: "Multiply by the number of samples: the time is per sample.",
                us / 60_000 / 1e6: "Multiply by the number of samples: the time is per sample.",
                us / 1e6: "This is the time for one sample; an epoch has 60,000.",
                round(us * 0.06): "Do not round: find the fraction of a second that the log drops.",
            },
        )
    return "9.12, 5.82 and 3.84 s, or 9, 6 and 4 in whole seconds."
