"""Measure a training step: its parts, its operations, and what the device could do.

The package does not import this file, because it needs PyTorch.
"""

import copy
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

Function = Callable[..., Any]
WAITING = {  # calls that need a number on the host, so the host waits for the device
    *("item", "tolist", "numpy", "cpu", "__float__", "__int__", "__bool__", "__index__"),
    *("__format__", "__repr__"),
}
CHARACTERS, LENGTH, TEXTS, RATE = 11, 8, 4, 0.01


class Readers:
    """Record which thread reads each sample, in memory that all processes share."""

    def __init__(self, count: int) -> None:
        self.threads = torch.zeros(count, dtype=torch.int64).share_memory_()

    def note(self, number: int) -> None:
        self.threads[number] = threading.get_native_id()

    def own_share(self) -> float:
        """Return the fraction of the samples that were read by this thread or by no thread."""
        own = (self.threads == threading.get_native_id()) | (self.threads == 0)
        return float(own.double().mean())


def mark(device: Any = None) -> Any:
    """Return this moment: on a GPU an event in its queue of work, else the clock's seconds."""
    if device is None or device.type != "cuda":
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def seconds_between(first: Any, second: Any) -> float:
    """Return the seconds between two marks. A GPU has to have reached both events."""
    if isinstance(first, float):
        return float(second - first)
    return float(first.elapsed_time(second)) / 1000


class Parts:
    """A clock for the parts of a step, which are also named in the profiler's trace."""

    def __init__(self, device: Any = None) -> None:
        self.device = device
        self.marks: defaultdict[str, list[tuple[Any, Any]]] = defaultdict(list)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        with record_function(f"part: {name}"):
            began = mark(self.device)
            yield
            self.marks[name].append((began, mark(self.device)))

    def seconds(self) -> dict[str, list[float]]:
        """Return the times of each part. A GPU must have finished its work."""
        marks = self.marks.items()
        return {name: [seconds_between(*pair) for pair in pairs] for name, pairs in marks}


class Operations(TorchDispatchMode):
    """Count PyTorch's operations while the mode is active, and the bytes of their tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.count = self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.count += 1
        found = func(*args, **(kwargs or {}))
        if not func.is_view:  # which moves nothing
            tensors = [each for each in tree_leaves((args, kwargs, found)) if torch.is_tensor(each)]
            self.bytes += sum(each.nbytes for each in tensors)
        return found


class Waits(TorchFunctionMode):
    """Count the calls that make the host wait for a number from the device."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name, named = getattr(func, "__name__", ""), (*args[1:], *(kwargs or {}).values())
        # .to(device) may move to a GPU; .to("cpu") always waits for one.
        to_host = name == "to" and "cpu" in [each for each in named if isinstance(each, str)]
        self.count += to_host or name in WAITING
        return func(*args, **(kwargs or {}))


def synchronise(device: Any) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def best_seconds(work: Function, device: Any, times: int = 3) -> float:
    """Return the shortest time of several runs, after a warm-up run that does not count."""
    found = []
    for _ in range(times + 1):
        synchronise(device)
        began = time.perf_counter()
        work()
        synchronise(device)
        found.append(time.perf_counter() - began)
    return min(found[1:])


def product_flops(device: Any, rows: int, inner: int, columns: int) -> float:
    """Return the FLOP/s of a matrix multiplication."""
    one, other = torch.ones(rows, inner, device=device), torch.ones(inner, columns, device=device)
    flops = 2 * rows * inner * columns
    many = int(1 + 2e8 / flops)  # long enough for the clock

    def work() -> None:
        for _ in range(many):
            one @ other

    return many * flops / best_seconds(work, device)


def peak_flops(device: Any) -> float:
    """Return the FLOP/s of a large matrix multiplication."""
    size = 8192 if device.type == "cuda" else 768
    return product_flops(device, size, size, size)


def bandwidth(device: Any) -> float:
    """Return the bytes per second of adding to a tensor that does not fit into a cache."""
    many = torch.ones(2**28 if device.type == "cuda" else 2**23, device=device)
    out = torch.empty_like(many)
    return 2 * many.nbytes / best_seconds(lambda: torch.add(many, 1, out=out), device)


def measured_points(device: Any, products: Mapping[str, tuple[int, int, int]]) -> Iterator[tuple]:
    """Yield each product's name, its FLOP per byte, and the FLOP/s that it reaches."""
    for name, (rows, inner, columns) in products.items():
        moved = 4 * (rows * inner + inner * columns + rows * columns)
        intensity = 2 * rows * inner * columns / moved
        yield name, intensity, product_flops(device, rows, inner, columns)


def counted_flops(model: Any, ids: Any, following: Any) -> tuple[float, float]:
    """Return PyTorch's FLOP counts for a forward and backward pass: in total and for attention.

    Fused attention is not counted on a CPU, so here it is computed as two plain products.
    """
    model = copy.deepcopy(model)
    counter: Any = FlopCounterMode(display=False)
    with counter, sdpa_kernel(SDPBackend.MATH):
        scores = model(ids)
        torch.nn.functional.cross_entropy(scores.flatten(0, 1), following.flatten()).backward()
    by_name = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    return counter.get_total_flops(), by_name.get("aten.bmm", 0)


def step_errors(
    way: Any, slow: Any, train_step: Function, gpt: Function
) -> Iterator[tuple[str, float]]:
    """Yield how far parameters and noted numbers are from the slow step's, in float64."""
    found = []
    for each in (slow, way):
        torch.manual_seed(1000)
        network = gpt(CHARACTERS, LENGTH, layers=2, width=16, heads=2).double()
        texts = torch.randint(0, CHARACTERS, (4, TEXTS, LENGTH + 1))
        optimizer = each.optimizer(network.parameters(), RATE)
        steps = [(step[:, :-1], step[:, 1:]) for step in texts]
        notes = [train_step(each, network, optimizer, step, Parts()) for step in steps]
        params = [param.detach().flatten() for param in network.parameters()]
        found.append((torch.cat(params), torch.stack(notes)))
    for name, right, own in zip(("step_error", "note_error"), *found, strict=True):
        yield name, float((right - own).abs().max())


def count_step(way: Any, model: Any, optimizer: Any, batch: Any) -> Counter[str]:
    """Count the forward passes, the waits, and the operations in the optimizer update."""
    counts: Counter[str] = Counter(forwards=0)
    way.gradients(model, *batch)
    optimizer.step()  # the first step also makes Adam's running means
    optimizer.zero_grad()
    model.register_forward_hook(lambda *_: counts.update(forwards=1))
    with Waits() as waits:
        loss = way.gradients(model, *batch)
        with Operations() as operations:
            optimizer.step()
        way.note(model, loss)
    return Counter(forwards=counts["forwards"], waits=waits.count, update_ops=operations.count)


def share_of_zeros(model: Any) -> float:
    """Return the share of the blocks' gradients that are exactly 0."""
    found = [param.grad.flatten() for param in model.blocks.parameters() if param.grad is not None]
    return float((torch.cat(found) == 0).double().mean())
