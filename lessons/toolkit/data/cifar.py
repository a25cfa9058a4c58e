"""Read CIFAR's batches, which are Python 2 pickles, without executing the calls in them.

A pickle is a small program for a stack machine. Python's unpickler calls any function that the
program names. The machine in this module knows only three names and the operations that a CIFAR
batch needs. It stores calls without making them, and cannot import, call or allocate anything that
a pickle requests.
"""

import pickletools
from typing import Any

import numpy as np

PIXELS = 3072
RECONSTRUCT = "numpy.core.multiarray _reconstruct"
NAMES = {RECONSTRUCT, "numpy ndarray", "numpy dtype"}
MARK = object()

PUSH_ARGUMENT = {"BININT", "BININT1", "BININT2", "BINSTRING", "SHORT_BINSTRING"}
PUSH_VALUE = {"NONE": None, "NEWFALSE": False, "NEWTRUE": True}


class Call:
    """A call in a pickle, stored and never made."""

    def __init__(self, name: str, arguments: tuple) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None


class Name(str):
    """The name of a function or class, stored as text only."""


def parse(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels (n, 3072) and labels (n) of one batch.

    For any other file, a ValueError says what is wrong with it.
    """
    try:
        batch = _run(data)
    except (IndexError, TypeError, KeyError, OverflowError) as error:
        raise ValueError("is not a complete pickle of a CIFAR batch") from error
    if not isinstance(batch, dict):
        raise ValueError("is a pickle, but not of a CIFAR batch")
    return _pixels(batch.get("data")), _labels(batch.get("labels"), batch.get("data"))


def images(pixels: np.ndarray) -> np.ndarray:
    """Return rows of three colour planes as images: (n, 3072) → (n, 32, 32, 3)."""
    return pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def _run(data: bytes) -> Any:
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    for operation, argument, _ in _operations(data):
        name = operation.name
        if name in PUSH_ARGUMENT:
            stack.append(argument)
        elif name in PUSH_VALUE:
            stack.append(PUSH_VALUE[name])
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "MARK":
            stack.append(MARK)
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "EMPTY_TUPLE":
            stack.append(())
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            stack[-count:] = [tuple(stack[-count:])]
        elif name == "TUPLE":
            stack.append(tuple(_to_mark(stack)))
        elif name == "APPEND":
            value = stack.pop()
            _container(stack, list).append(value)
        elif name == "APPENDS":
            values = _to_mark(stack)
            _container(stack, list).extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = _to_mark(stack) if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            _container(stack, dict).update(zip(values[::2], values[1::2], strict=True))
        elif name == "GLOBAL":
            if argument not in NAMES:
                raise ValueError(
                    f"asks to run {argument.replace(' ', '.')!r}, which no CIFAR batch does: "
                    "it may be an attack and was not run"
                )
            stack.append(Name(argument))
        elif name == "REDUCE":
            arguments = stack.pop()
            function = stack.pop()
            if not isinstance(function, Name) or not isinstance(arguments, tuple):
                raise ValueError("is not a pickle of a CIFAR batch")
            stack.append(Call(function, arguments))
        elif name == "BUILD":
            state = stack.pop()
            _container(stack, Call).state = state
        elif name == "STOP":
            return stack.pop()
        elif name != "PROTO":
            raise ValueError(f"holds the pickle operation {name}, which no CIFAR batch does")
    raise ValueError("ends in the middle of a pickle")


def _operations(data: bytes):
    """Yield the pickle's operations. pickletools reads them one by one without executing them."""
    try:
        yield from pickletools.genops(data)
    except ValueError as error:
        raise ValueError("is not a complete pickle") from error


def _to_mark(stack: list) -> list:
    values: list = []
    while (value := stack.pop()) is not MARK:
        values.append(value)
    return values[::-1]


def _container(stack: list, kind: type) -> Any:
    if not isinstance(stack[-1], kind):
        raise ValueError("is not a pickle of a CIFAR batch")
    return stack[-1]


def _pixels(array: Any) -> np.ndarray:
    """Return the pixels from a pickled NumPy array of bytes.

    Its state consists of the version, shape, type, order and bytes.
    """
    wrong = ValueError("has no pixel array (n by 3,072 bytes), unlike a CIFAR batch")
    if not isinstance(array, Call) or array.name != RECONSTRUCT:
        raise wrong
    if not isinstance(array.state, tuple) or len(array.state) != 5:
        raise wrong
    _, shape, kind, columns_first, raw = array.state
    if not isinstance(kind, Call) or kind.name != "numpy dtype" or kind.arguments[:1] != ("u1",):
        raise wrong
    if not isinstance(raw, str) or columns_first is not False or not isinstance(shape, tuple):
        raise wrong
    if shape != (len(raw) // PIXELS, PIXELS) or len(raw) % PIXELS:
        raise wrong
    return np.frombuffer(raw.encode("latin-1"), np.uint8).reshape(shape)


def _labels(labels: Any, array: Any) -> np.ndarray:
    if not isinstance(labels, list) or not all(type(label) is int for label in labels):
        raise ValueError("does not contain the list of labels of a CIFAR batch")
    if len(labels) != array.state[1][0] or not all(0 <= label <= 9 for label in labels):
        raise ValueError("has labels that do not fit its pixels (one of 0…9 for each image)")
    return np.array(labels, np.int64)
