"""Check the plugin's calls in a training program, without MPI, data or output (6.4)."""

import contextlib
import io
import os
import tempfile
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, check_number, exercise

# The parameters that rank 0 "sends", and mean gradients that leave them unchanged.
RETURNED = {"broadcast": 0.01, "gradients": 0.0}
# The first arguments of two calls, and what they mean.
ARGUMENTS = {
    "init": ((1, 1, 50_890), "totsize is the total number of parameters."),
    "config_team": (
        (0, 0, 100, 4, 2, 200),
        "Compare each argument with the page. What is max_steps in your program?",
    ),
}


class Recorder:
    """A plugin of one rank that records its calls with their arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def get_rank(self) -> int:
        return 0

    def get_nranks(self) -> int:
        return 1

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            if name in RETURNED:
                return [np.full_like(tensor, RETURNED[name]) for tensor in arguments[0]]
            return None

        return call


@exercise("6.4")
def check_6_4(train: Any) -> str:
    """The calls are init, config_team, broadcast, gradients in every step, and finalize."""
    # Rounding up once or in each epoch gives the same here (within 0.1 %). The second case differs.
    for numbers, right in (((4, 1, 60000, 128), 1875), ((1, 4, 1056, 32), 9)):
        epochs, ranks, n, batch = numbers
        mistakes = {
            0.0: "int(1 / 4) is 0. How often does your formula cut something off?",
            n // (batch * ranks) * epochs: "Each epoch's last images make an update, too.",
            right - 1: "A few images are left over. What happens to them?",
            epochs * n // batch: "How many images does an update use on all ranks together?",
        }
        check_number(train.steps, "steps", numbers, right, mistakes)
    mc = Recorder()
    trained = train_with(mc, train)
    names = [name for name, _ in mc.calls]
    order = ["init", "config_team", "broadcast", *["gradients"] * 4, "finalize"]
    if names != order:
        missing = [name for name in dict.fromkeys(order) if name not in names]
        advice = f"mc.{missing[0]}(…) is missing." if missing else "The order is wrong."
        expected = "init, config_team, broadcast, gradients × 4, finalize"
        raise CheckFailed(expected, ", ".join(names) or "no call", advice)
    given = dict(mc.calls)
    for name, (arguments, advice) in ARGUMENTS.items():
        if given[name][: len(arguments)] != arguments:
            expected = f"{name} with the arguments of the page's call, for this program"
            raise CheckFailed(expected, f"{name}{given[name]}", advice)
    if not all(np.all(param == np.float32(RETURNED["broadcast"])) for param in trained):
        raise CheckFailed(
            "rank 0's parameters, updated with the mean gradients",
            "this rank's own",
            "Both calls *return* new arrays. What does your program do with them?",
        )
    return "The five calls are in the right order, totsize is 50,890, and every rank takes steps."


def train_with(mc: Recorder, train: Any) -> list[np.ndarray]:
    """Train for one epoch of four steps. Return the parameters; print and write nothing."""
    images = np.random.default_rng(1).random((128, 28, 28), dtype=np.float32)
    labels = np.arange(128) % 10
    mnist = SimpleNamespace(
        x_train=images, y_train=labels, x_test=images[:8], y_test=labels[:8], facts={}
    )
    args = SimpleNamespace(
        epochs=1, batch_size=32, lr=0.1, train_samples=128, seed=1, precision="float32"
    )
    run, here = mock.MagicMock(rank=0, size=1), os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            with mock.patch.object(train, "Run", return_value=run) as made:
                train.train(mc, args, mnist)
        finally:
            os.chdir(here)
    return list(made.call_args.args[2])
