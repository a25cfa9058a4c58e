"""Record a training program's calls to the plugin, without MPI, data or output (lesson 06)."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

# The parameters that rank 0 "sends", and mean gradients that leave them unchanged.
RETURNED = {"broadcast": 0.01, "gradients": 0.0}


class Recorder:
    """A replacement for the plugin that records calls with their arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            if name not in ("get_rank", "get_nranks"):
                self.calls.append((name, arguments))
            if name in RETURNED:
                return [np.full_like(tensor, RETURNED[name]) for tensor in arguments[0]]
            return {"get_rank": 0, "get_nranks": 1}.get(name)

        return call


class Silent:
    """A replacement for Record whose methods do nothing."""

    rank, size = 0, 1
    ended: ClassVar[list[np.ndarray]] = []

    def __init__(self, *_: Any, **__: Any) -> None: ...

    @contextlib.contextmanager
    def epoch(self, **_: Any) -> Iterator[Any]:
        yield SimpleNamespace(log=lambda **_: None)

    def begin(self, _: list[np.ndarray]) -> None: ...

    def trained(self, params: list[np.ndarray], _: Any = None) -> None:
        self.ended.extend(params)

    def measure(self, *_: Any, **__: Any) -> None: ...

    def end(self, **_: Any) -> None: ...


def calls_of(train: Any) -> tuple[list[tuple[str, tuple[Any, ...]]], bool]:
    """Return the calls made in one epoch of four steps, and whether their results were used.

    Nothing is printed or written.
    """
    mc = Recorder()
    Silent.ended.clear()
    rng = np.random.default_rng(1)
    images = rng.random((128, 28, 28), dtype=np.float32)
    mnist = SimpleNamespace(x_train=images, y_train=np.arange(128) % 10)
    mnist = SimpleNamespace(**vars(mnist), x_test=images[:8], y_test=np.arange(8), facts={})
    args = SimpleNamespace(
        epochs=1, batch_size=32, lr=0.1, train_samples=128, seed=1, precision="float32"
    )
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            with patch.object(train, "Record", Silent):
                train.train(mc, args, mnist)
        finally:
            os.chdir(here)
    used = all(np.all(param == np.float32(RETURNED["broadcast"])) for param in Silent.ended)
    return mc.calls, used
