"""A speed job of 1,000 parameters, which the tests start on real ranks.

The environment variable LEARNER names what is wrong with the student's code, if anything.
"""

import argparse
import os
import threading
import time
from pathlib import Path

import numpy as np

from lessons.toolkit import clock

SIZE = 1000
SLEEP_S = 0.3


class Toy:
    """Training without a framework. `mean` averages a gradient over the ranks, or does not."""

    size, counted, lr = SIZE, SIZE, 0.1

    def __init__(self, mean):
        self.params, self.steps, self.mean = np.ones(SIZE, np.float32), 0, mean

    def batches(self, seed, steps):
        random = np.random.default_rng(seed)
        for _ in range(steps):
            yield random.random(SIZE, np.float32)

    def train(self, seed, steps):
        for batch in self.batches(seed, steps):
            self.apply(self.mean(self.gradient(batch)))

    def gradient(self, batch):
        return batch * self.params

    def apply(self, gradient):
        self.steps += 1
        self.params = self.params - np.float32(self.lr) * gradient

    def values(self, places):
        return self.params[places]

    def state(self):
        return [self.steps, self.lr], [self.params, np.zeros(SIZE), np.zeros(SIZE)]

    def load(self, adam, state):
        self.steps, self.params = adam[0], np.split(state, 3)[0].copy()


class Watching(Toy):
    """The yardstick's work. It writes down in which states the student's processes are."""

    def train(self, seed, steps):
        super().train(seed, steps)
        states = [state(int(pid.stem)) for pid in Path().glob("*.learner")]
        with Path(f"{os.getpid()}.yardstick").open("a") as file:
            file.write("".join(states))


def state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""  # of another rank that has already ended


class Late(Toy):
    """Work that completes its last step after the phase."""

    def train(self, seed, steps):
        *first, last = self.batches(seed, steps)
        for batch in first:
            self.apply(self.mean(self.gradient(batch)))
        self.last = last

    def state(self):
        self.apply(self.mean(self.gradient(self.last)))
        return super().state()


def alone(job):
    return Watching(lambda gradient: gradient)


def together(job):
    from mpi4py import MPI

    comm, fault = MPI.COMM_WORLD, os.environ.get("LEARNER")
    Path(f"{os.getpid()}.learner").touch()

    def mean(gradient):
        whole = np.empty_like(gradient)
        comm.Allreduce(gradient, whole)
        return whole / comm.size

    def slow_mean(gradient):
        time.sleep(SLEEP_S)
        return mean(gradient)

    if fault == "fails" and job.rank == 1:
        raise NotImplementedError("Exercise 1.1")
    if fault == "dies" and job.rank == 1:
        os._exit(1)
    if fault == "keeps another time":
        time.perf_counter = time.monotonic = time.time = lambda: 0.0
        return Toy(slow_mean)
    if fault == "slows the yardstick":
        os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
        os.sched_setaffinity(os.getppid(), {min(os.sched_getaffinity(0))})
    if fault == "burns the core":
        threading.Thread(target=burn, daemon=True).start()
        if os.fork() == 0:
            if os.fork() == 0:  # its parent ends, so that it is nobody's child
                os.setsid()
                Path(f"{os.getpid()}.learner").touch()
                burn()
            os._exit(0)
        os.wait()
        time.sleep(SLEEP_S)
    if fault == "half of the batch":
        return Toy(lambda gradient: mean(gradient * (np.arange(SIZE) % 2)))
    if fault == "is late":
        return Late(mean)
    return Toy((lambda gradient: gradient) if fault == "averages nothing" else mean)


def burn():
    until = time.monotonic() + 30
    while time.monotonic() < until:
        pass


def command_line():
    parser = argparse.ArgumentParser()
    for name, value in (("rounds", 3), ("steps", 3), ("batch-size", 8), ("width", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser


if __name__ == "__main__":
    clock.conduct(alone, together, command_line(), lesson="10", framework="numpy")
