"""Measure a ResNet's images per second in three precisions: lesson 10's step and a bare loop.

Print a line of JSON for each.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

LESSON = Path(__file__).resolve().parents[2] / "solutions" / "10_native"
STEPS, WARM_UP, BATCH = {"cuda": 50, "cpu": 2}, {"cuda": 10, "cpu": 1}, {"cuda": 256, "cpu": 2}
WIDTH = {"cuda": 10, "cpu": 1}  # as in the `full` profile: enough arithmetic to keep a GPU busy


def precisions(device: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each precision and loop: images per second, and peak memory in MB."""
    import torch

    sys.path.insert(0, str(LESSON))
    import noise
    import resnet

    for precision in ("float32", "tf32", "bfloat16"):
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        autocast = torch.autocast(device.type, dtype=torch.bfloat16)
        for loop, make in (("bare", bare), ("lesson", lesson)):
            torch.manual_seed(1)
            model = resnet.resnet(WIDTH[device.type]).to(device)
            batches = noise.batches(BATCH[device.type], 1, torch.device("cpu"))
            step = make(model, torch.optim.Adam(model.parameters()), batches, device)
            with autocast if precision == "bfloat16" else nullcontext():
                rate, peak = timed(step, device)
            yield {"precision": precision, "loop": loop, "images_per_s": rate, "peak_mb": peak}


def bare(model: Any, optimizer: Any, batches: Iterator[Any], device: Any) -> Callable[[], None]:
    """Return a step on a batch that stays on the device."""
    import torch

    x, y = (part.to(device) for part in next(batches))
    loss_function = torch.nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad()
        loss_function(model(x), y).backward()
        optimizer.step()

    return step


def lesson(model: Any, optimizer: Any, batches: Iterator[Any], device: Any) -> Callable[[], None]:
    """Return train.py's step, with a batch that is copied to the device as in train.py."""
    import torch

    import train

    loss_function = torch.nn.CrossEntropyLoss()

    def step() -> None:
        x, y = (part.to(device) for part in next(batches))
        train.train_step(model, optimizer, loss_function, x, y)

    return step


def timed(step: Callable[[], None], device: Any) -> tuple[float, float | None]:
    """Return images per second over some steps, and the peak of GPU memory in MB."""
    import torch

    on_gpu, kind = device.type == "cuda", device.type
    for _ in range(WARM_UP[kind]):
        step()
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(STEPS[kind]):
        step()
    if on_gpu:
        torch.cuda.synchronize()
    rate = BATCH[kind] * STEPS[kind] / (time.perf_counter() - began)
    return round(rate, 1), round(torch.cuda.max_memory_allocated() / 1e6, 1) if on_gpu else None


if __name__ == "__main__":
    import torch

    for row in precisions(
        torch.device("cpu" if os.environ.get("COURSE_DEVICE") == "cpu" else "cuda")
    ):
        print(json.dumps(row), flush=True)
