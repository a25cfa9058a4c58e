"""Write down what the device can do, and what each round has measured."""

import statistics

from torch.profiler import ProfilerActivity, profile

from lessons.toolkit import traces
from lessons.toolkit.probes import profiling

import levers


def begin(run, training, train_step, batch):
    """Record the step's operations and bytes, and how fast this device is. Return the operations.

    training: a step, network and optimizer that are used for this alone.
    """
    model, device = training[1], batch[0].device
    texts, length = batch[0].shape
    width = model.characters.embedding_dim
    work, attention = profiling.counted_flops(model, *batch)
    with profiling.Operations() as operations:
        train_step(*training, batch, profiling.Parts())
    run.measure("flops", work, "FLOP", attention=attention, moved=operations.bytes)
    run.measure("bandwidth", profiling.bandwidth(device), "bytes/s")
    products = {
        "one text": (length, width, 4 * width),
        f"{texts} texts": (texts * length, width, 4 * width),
        "thin product": (4, 768, 768),
        "large product": (768, 768, 768),
    }
    for name, intensity, rate in profiling.measured_points(device, products):
        run.measure("product", rate, "FLOP/s", of=name, intensity=intensity)
    return work


def note(run, number, found, peak, flops, steps):
    """Record and print a round. found: each way's loss, seconds, their parts, and who read.

    peak: the device's FLOP/s in a product. flops: operations of a step. steps: how many each made.
    """
    before, after = found["before"], found["after"]
    for name, (loss, seconds, parts, readers) in found.items():
        ms = {f"{part}_ms": 1000 * statistics.mean(times) for part, times in parts.items()}
        run.measure("step_ms", 1000 * seconds / steps, way=name, round=number, **ms)
        own = readers.own_share()  # how many of the windows the training itself has read
        run.measure("own_reads", own, way=name, round=number)
        print(f"Round {number}, {name}: {1000 * seconds / steps:.1f} ms per step, loss {loss:.4f}")
        if name not in ("before", "after"):
            apart = abs(loss - after[0])
            run.measure("lever", after[1] / seconds, of=name, round=number, loss_apart=apart)
    numbers = {
        "peak_flops": peak,
        "peak_share": flops * steps / after[1] / peak,
        "gain": before[1] / after[1],
        "loss_apart": abs(before[0] - after[0]),
    }
    for name, value in numbers.items():
        run.measure(name, value, round=number)


def write_traces(trainings, some_steps, device):
    """Profile a few steps of each training, and write its trace."""
    kinds = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device.type == "cuda")
    for name, training in trainings.items():
        levers.set_products(name)
        with profile(activities=kinds) as profiler:
            some_steps(training)
        traces.write(f"trace_{name}.json.gz", traces.reduced(profiler))
