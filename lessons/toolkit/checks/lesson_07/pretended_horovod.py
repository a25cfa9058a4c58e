"""A replacement for Horovod that claims to be one rank of several, for checks.

There is also a replacement for the GPUs of a node, so no GPU is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed


class Told:
    """A function like `hvd.rank`.

    Comparing it without calling it raises an error; Python would silently compare the function
    object.
    """

    def __init__(self, name: str, tell: Callable[[], int]) -> None:
        self.name, self.tell = name, tell

    def __call__(self) -> int:
        return self.tell()

    def uncalled(self, *_: Any) -> Any:
        name = f"hvd.{self.name}"
        advice = f"{name} without () is the function itself, not a number: {name}() calls it."
        raise CheckFailed(f"the number that {name}() gives", f"{name} without ()", advice)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = uncalled
    __bool__ = __index__ = __int__ = __float__ = uncalled
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = uncalled
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = uncalled


class Pretend:
    """A replacement for Horovod that records its calls and has to be initialised first."""

    def __init__(self, rank: int, size: int, local_rank: int) -> None:
        self.calls: list[str] = []
        self.rank = Told("rank", lambda: self.told(rank, "rank"))
        self.size = Told("size", lambda: self.told(size, "size"))
        self.local_rank = Told("local_rank", lambda: self.told(local_rank, "local_rank"))

    def init(self, *_: Any, **__: Any) -> None:
        self.calls.append("init")

    def told(self, number: int, name: str) -> int:
        if "init" not in self.calls:
            raise CheckFailed(
                "hvd.init() before anything else", f"hvd.{name}() first", BEGIN_WITH_INIT
            )
        return number

    def DistributedOptimizer(self, optimizer: Any, *_: Any, **__: Any) -> Any:  # noqa: N802
        if isinstance(optimizer, str | type):
            raise CheckFailed(
                "an optimizer created with the learning rate for all ranks",
                f'the word "{optimizer}"' if isinstance(optimizer, str) else "a class, not called",
                "Create it first: keras.optimizers.Adam(lr * hvd.size()), then wrap it.",
            )
        self.calls.append("DistributedOptimizer")
        return optimizer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in NOT_HERE:
            raise AttributeError(f"there is no hvd.{name} in this exercise")
        raise CheckFailed(
            "only the parts of Horovod that this exercise needs", f"hvd.{name}", NOT_HERE[name]
        )


BEGIN_WITH_INIT = (
    "Begin with hvd.init(), which connects the ranks. Without the (), the function is not called."
)

# Names that look right but end the job.
NOT_HERE = {
    "broadcast_variables": "This function is not in hvd: train.py imports it under its own name.",
    "local_size": "hvd.size() counts the ranks of all nodes, hvd.local_size() those of one.",
}


@contextmanager
def pretending(program: Any, rank: int, size: int, local_rank: int, **others: Any) -> Iterator[Any]:
    """Replace `hvd` and other names in the student's program during a `with` block."""
    horovod = Pretend(rank, size, local_rank)
    with ExitStack() as stack:
        for name, value in {"hvd": horovod, **others}.items():
            stack.enter_context(mock.patch.object(program, name, value))
        yield horovod


@contextmanager
def pretended_gpus(program: Any, gpus: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Replace TensorFlow's devices with a CPU and these GPUs during a `with` block.

    The result contains the device types that the program requested, and the devices that each call
    made visible, with their types.
    """
    asked: list[str | None] = []
    visible: list[tuple[Any, str | None]] = []

    def found(device_type: str | None = None) -> list[str]:
        asked.append(device_type)
        return [d for d in ("CPU 0", *gpus) if device_type in (None, d.split()[0])]

    def see(devices: Any, device_type: str | None = None) -> None:
        visible.append((devices, device_type))

    config = program.tf.config
    with ExitStack() as stack:
        for names in (config, config.experimental):  # the older names still exist
            stack.enter_context(mock.patch.object(names, "list_physical_devices", found))
            stack.enter_context(mock.patch.object(names, "set_visible_devices", see))
        yield asked, visible
