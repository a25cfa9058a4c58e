"""Measure what the run record costs a program: python benchmarks/lessons/record_cost.py

Target: less than 0.1 % of an epoch of one second. The record writes two lines per epoch (three with
validation) and reads two clocks. It does nothing per batch.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

from lessons.toolkit.record import Run

EPOCHS = 2000


def epoch_cost(target: str) -> float:
    """Return the median seconds of an epoch without training, with output to a file or a pipe."""
    sys.stdout.flush()
    saved = os.dup(1)
    with contextlib.ExitStack() as stack:
        if target == "file":
            out = stack.enter_context(tempfile.NamedTemporaryFile())
            os.dup2(out.fileno(), 1)
        else:
            reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            stack.callback(reader.communicate)
            os.dup2(reader.stdin.fileno(), 1)  # type: ignore[union-attr]
        run = Run("02", {"epochs": EPOCHS, "batch_size": 32}, source="bench", samples=60000)
        seconds = []
        for _ in range(EPOCHS):
            start = time.perf_counter()
            with run.epoch() as log:
                log(steps=1875, loss=0.1234567, accuracy=0.9876543)
            log(val_accuracy=0.97, val_loss=0.1)
            seconds.append(time.perf_counter() - start)
        run.end()
        os.dup2(saved, 1)
    os.close(saved)
    return statistics.median(seconds)


def start_cost() -> float:
    """Return the seconds from creating a Run to writing its first lines."""
    text = (
        "import os, sys, time; from lessons.toolkit.record import Run\n"
        "start = time.perf_counter(); Run('02', source='bench').tell_machine()\n"
        "print(time.perf_counter() - start, file=sys.stderr)"
    )
    runs = [subprocess.run([sys.executable, "-c", text], capture_output=True) for _ in range(9)]
    return statistics.median(float(run.stderr) for run in runs)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    for target in ("file", "pipe"):
        lines = epoch_cost(target)
        print(f"epoch of 1 s, output to a {target}: {lines * 1e6:6.0f} us = {100 * lines:.3f} %")
    print(f"first lines: {start_cost() * 1e3:.0f} ms, once a run")


if __name__ == "__main__":
    main()
