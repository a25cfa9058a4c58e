"""Measure what the node can do: copy memory, and run several independent processes."""

import os
import time
from multiprocessing import get_context

from autograder.cpus import usable_cpus
from cluster.doctor.diagnosis import Diagnosis, look, ok
from cluster.doctor.position import Position

COPY = 64 * 2**20  # bytes: more than the caches of one core hold
WINDOW = 0.6  # seconds in which each process counts its multiplications
AT_MOST = 64  # processes


def memory_copy(_: Position) -> Diagnosis:
    import numpy as np

    source, target = np.ones(COPY, np.uint8), np.zeros(COPY, np.uint8)
    times = []
    for _round in range(8):
        start = time.perf_counter()
        np.copyto(target, source)
        times.append(time.perf_counter() - start)
    rate = COPY / min(times) / 1e9
    words = f"{rate:.1f} GB/s by one core"
    if rate < 1:
        return look(
            words, "very slow: check with uptime whether other programs use the node", gb_s=rate
        )
    return ok(words, gb_s=rate)


def processes(position: Position) -> Diagnosis:
    """Measure the speedup of N independent processes over one.

    It is the upper limit of the speedup that any program can reach with N processes on this node.
    """
    ranks = [set(mask) for mask in position.affinities]
    free = set(usable_cpus())
    masks = ranks if len(ranks) > 1 else [free] * min(len(free), AT_MOST)
    alone = counted(masks[:1])[0]
    together = counted(masks)
    gain = sum(together) / alone
    number = len(masks)
    facts = {"processes": number, "gain": gain}
    if number == 1:
        return ok("one CPU, so one process at a time", **facts)
    words = f"{number} independent processes are {gain:.2f} times as fast as one"
    if gain < 0.75 * number:
        return look(
            f"{words}: no speedup here can be more",
            "cores are shared with other programs (see uptime), between hardware threads, or "
            "with each other",
            **facts,
        )
    return ok(f"{words}: the most that any speedup here can be", **facts)


def counted(masks: list[set[int]]) -> list[int]:
    """Return how many multiplications each process completes in the same period."""
    import numpy  # noqa: F401 - before the fork, so that it is not loaded by each

    fork = get_context("fork")
    start = time.time() + 0.2 + 0.02 * len(masks)
    answers = fork.SimpleQueue()
    children = [fork.Process(target=count, args=(mask, start, answers)) for mask in masks]
    for child in children:
        child.start()
    numbers = [answers.get() for _ in children]
    for child in children:
        child.join()
    return numbers


def count(mask: set[int], start: float, answers) -> None:
    import numpy as np

    os.sched_setaffinity(0, mask)
    matrix = np.random.default_rng(1).random((160, 160), dtype=np.float32)
    done = 0
    while time.time() < start:
        matrix @ matrix
    while time.time() < start + WINDOW:
        matrix @ matrix
        done += 1
    answers.put(done)
