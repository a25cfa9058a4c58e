"""Write down what a round of both steps has measured."""

import statistics


def note(run, number, found, peak, flops, steps):
    """Record and print a round. found: each way's loss, seconds, their parts, and who read.

    peak: the device's FLOP/s. flops: operations of a step. steps: how many a way made.
    """
    for name, (_, seconds, parts, readers) in found.items():
        ms = {f"{part}_ms": 1000 * statistics.mean(times) for part, times in parts.items()}
        run.measure("step_ms", 1000 * seconds / steps, way=name, round=number, **ms)
        own = readers.own_share()  # how many of the windows the training itself has read
        run.measure("own_reads", own, way=name, round=number)
    before, after = found["before"], found["after"]
    numbers = {
        "peak_flops": peak,
        "mfu": flops * steps / after[1] / peak,
        "gain": before[1] / after[1],
        "loss_apart": abs(before[0] - after[0]),
    }
    for name, value in numbers.items():
        run.measure(name, value, round=number)
    print(
        f"Round {number}: {1000 * before[1] / steps:.1f} ms per step before, "
        f"{1000 * after[1] / steps:.1f} ms after, loss {after[0]:.3f}",
        flush=True,
    )
