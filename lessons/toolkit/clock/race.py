"""Compare a library's function with the student's. Both add up an array over all ranks.

Under a launcher, only one process of a rank can use MPI, so both functions run in the same process.
This process is timed with the library's function first, and imports the student's code afterwards.
It is paused except while the clock runs. It shares the array with the conductor, which fills the
array before each sum, and checks the sum.
"""

import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cluster.launchers import launched
from lessons.toolkit.clock import processes, serve
from lessons.toolkit.clock.conductor import CONDUCTOR, ROLE, Job, arguments, one_sentence
from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.messages import Channel
from lessons.toolkit.clock.record import ConductorsRecord, Kept
from lessons.toolkit.clock.rounds import two_seeds
from lessons.toolkit.clock.workers import Workers

Add = Callable[[Any], Any]  # adds up an array over all ranks, in place
LEARNER = "learner"
REPEATS = 20
# Measures of the learner. The conductor writes all others.
EXCHANGES = ("allreduce_s", "allreduce_error", "arrays_moved", "share_sent", "under_way")
OTHERS = frozenset([*EXCHANGES, "step_s", "straggler_growth_ms"])
CHECKED = 10_000  # places of the array, drawn at random


class Race(Workers):
    """The only MPI process of a rank, and an array that it shares with the conductor."""

    def __init__(self, hub: Hub, floats: int, code: str) -> None:
        file = os.memfd_create("array")
        os.ftruncate(file, 4 * floats)
        self.array = shared(file)
        super().__init__(hub, f"race,{file}", code, [LEARNER], [file])
        os.close(file)

    def go_on(self) -> None:
        processes.send(signal.SIGCONT, processes.descendants(os.getpid()))

    def seconds(self, seed: int, chosen: int) -> tuple[float, float]:
        """Measure one sum. Return the slowest rank's seconds, and the largest error of the sum.

        seed: for the numbers. chosen: the seed for the places where the sum is checked.
        """
        self.pause(processes.descendants(os.getpid()))
        drawn = np.random.default_rng(seed + self.rank)
        numbers = drawn.integers(-99, 100, self.array.size).astype(np.float32)
        self.array[:] = numbers
        places = np.random.default_rng(chosen).integers(0, numbers.size, CHECKED)
        pids = processes.descendants(os.getpid())
        self.hub.gather()
        began = time.perf_counter()
        processes.send(signal.SIGCONT, pids)
        self.ask(LEARNER, "add")
        found = self.array[places]  # before the clock stops, because a sum may still be under way
        seconds = time.perf_counter() - began
        every = self.hub.arrays(numbers[places])
        right = self.hub.share_array(np.sum(every, axis=0) if every else None)
        error = float(np.abs(found - right).max() / np.abs(right).max())
        all_seconds, errors = zip(*self.hub.gather([seconds, error]), strict=True)
        return max(all_seconds), float(np.max(errors))

    def repeat(self) -> tuple[list[float], float]:
        """Measure several sums. Return their seconds, and the largest error."""
        chance = random.SystemRandom()
        # The first one includes making buffers and connections.
        found = [self.seconds(*self.hub.share(two_seeds(chance))) for _ in range(REPEATS + 1)]
        self.go_on()
        seconds, errors = zip(*found, strict=True)
        return list(seconds)[1:], float(np.max(errors))


def shared(file: int) -> Any:
    """Return the array in this file, which other processes may have, too."""
    return np.frombuffer(mmap.mmap(file, 0), np.float32)


def race(
    library: Callable[[], Add],
    own: Callable[[Job], tuple[Add, Callable[[Any], None]]],
    parser: Any,
    *,
    lesson: str,
    floats: int,
    code: str,
) -> None:
    """Compare two functions that add up an array over all ranks. The program ends with this call.

    library: returns the library's function, and imports none of the student's code. own: imports
    the student's code, and returns its function and one that measures other things for a record.
    floats: length of the array. code: the student's file, for messages.
    """
    args, me = arguments(parser), launched()
    job = Job(args, me.rank, me.size, me.local_rank) if me else Job(args, 0, 1, 0)
    if ROLE != [CONDUCTOR]:
        _, file, number = ROLE[0].split(",")
        answer_all(shared(int(file)), int(number), library, lambda: own(job))
    with one_sentence(job.rank):
        conduct_race(job, lesson, floats, code)


def answer_all(array: Any, number: int, library: Callable[[], Add], own: Callable[[], Any]) -> None:
    """Answer the conductor's requests, in the process that uses MPI."""

    def answers(channel: Channel) -> None:
        add = library()
        channel.send(serve.of_process("numpy"))
        while (asked := channel.receive(serve.FOREVER)[0]) != ["end"]:
            match asked:
                case ["add"]:
                    add(array)
                    channel.send()
                case ["load"]:
                    sys.path.insert(0, str(Path(sys.argv[0]).parent))
                    add, measure = own()
                    channel.send(serve.of_process("numpy"))
                case ["measures"]:
                    kept = Kept()
                    measure(kept)  # the conductor asks for "load" first
                    channel.send(kept.measures)

    processes.end_with_parent()
    os.dup2(2, 1)  # the conductor alone writes the record
    serve.until_the_end(number, answers)


def conduct_race(job: Job, lesson: str, floats: int, code: str) -> None:
    hub = Hub(job.rank, job.size)
    racers = None
    try:
        racers = Race(hub, floats, "the library")
        library, _ = racers.repeat()
        racers.code = code
        racers.ready[LEARNER] = racers.ask(LEARNER, "load")[0]
        own, error = racers.repeat()
        header = {"framework": "numpy", "source": "exchange"}
        record = ConductorsRecord(lesson, job, racers.ready, header)
        if job.size > 1:
            for theirs, ours in zip(library, own, strict=True):
                seconds = {"library_s": round(theirs, 6), "ring_s": round(ours, 6)}
                record.measure("ring_speed", theirs / ours, "", floats=floats, **seconds)
        measures = racers.ask(LEARNER, "measures")[0]
        for each in measures:
            if (each["name"], each.get("scheme")) == ("allreduce_error", "ring"):
                each["value"] = float(np.max([each["value"], error]))
        record.take(measures, OTHERS)
        for each in measures:
            if each["name"] == "allreduce_s" and job.rank == 0:
                size, milliseconds = each["bytes"], 1e3 * each["value"]
                print(f"{each['scheme']:8} {size:12,} bytes {milliseconds:10.3f} ms")
        record.end()
        racers.end(LEARNER, racers.process.pid)
        hub.gather()  # no rank ends before all have written their lines
    finally:
        if racers:
            racers.kill()
