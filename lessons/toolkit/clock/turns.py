"""Make a rank's two processes take turns, and measure their phases."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons.toolkit.clock import processes
from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.serve import places
from lessons.toolkit.clock.workers import FailedError, Workers


@dataclass(frozen=True)
class Phase:
    """A part of every round: which process of a rank works, and on which ranks."""

    name: str
    who: str  # "yardstick" or "learner"
    words: tuple[Any, ...] = ()  # what Work.train gets after the seed and the number of steps
    everywhere: bool = True  # otherwise on rank 0 only
    shared: bool = False  # all ranks get the same batches; otherwise each has its own


ALONE = Phase("alone", "yardstick", everywhere=False)
SILENT = Phase("silent", "yardstick")


@dataclass(frozen=True)
class Times:
    """The measurements of one phase, collected by the conductors of all ranks."""

    seconds: float  # until the slowest rank was done
    cpu_s: float  # of all ranks together
    cores: int  # that a process may use: the fewest on any rank, or the most if together
    values: Any = None  # some of this rank's parameters, right at the end


class Turns(Workers):
    """The yardstick and the learner of one rank.

    The learner process is paused while the yardstick process works. code: the student's file, for
    messages.
    """

    def __init__(self, hub: Hub, framework: str, code: str) -> None:
        super().__init__(hub, framework, code, ("yardstick", "learner"))
        self.sizes = {who: int(ready["size"]) for who, ready in self.ready.items()}

    def give_turn(self, who: str) -> list[int]:
        """Let only the process `who` and its descendants run. Return their ids."""
        yardstick = {self.process.pid}
        others = processes.descendants(os.getpid()) - yardstick
        runs, waits = (yardstick, others) if who == "yardstick" else (others, yardstick)
        self.pause(waits)
        processes.send(signal.SIGCONT, runs)
        return sorted(runs)

    def measure(self, phase: Phase, seeds: Iterable[int], steps: int) -> Times:
        """Measure a phase. All ranks call this.

        A process gets the seed of its batches once the clock is running. The process learns which
        parameters to send only after its last step. The clock stops when they arrive.
        """
        who, works = phase.who, phase.everywhere or self.rank == 0
        batches, chosen = seeds
        pids = self.give_turn(who)
        cpu, values = processes.cpu_seconds(pids), None
        self.hub.gather()
        began = time.perf_counter()
        if works:
            seed = batches if phase.shared else batches + self.rank
            self.ask(who, "train", seed, steps, *phase.words)
            values = self.ask(who, "values", chosen, self.sizes[who])[1]
        seconds = time.perf_counter() - began
        found = [seconds, processes.cpu_seconds(pids) - cpu, processes.cores(pids)]
        self.look_for_disadvantage()
        every = list(zip(*self.hub.gather(found), strict=True))
        cores = (max if who == "learner" else min)(every[2])
        summary = round(max(every[0]), 6), round(sum(every[1]), 3), cores
        return Times(*summary, values)

    def look_for_disadvantage(self) -> None:
        """Make sure that nothing has reduced the yardstick's priority or its number of cores."""
        yardstick, own = self.process.pid, os.getpid()
        others = processes.descendants(own) - {yardstick}
        slower = processes.ranking(yardstick) - processes.ranking(own)
        if slower or processes.cores([yardstick]) < processes.cores(others):
            raise FailedError(
                f"Rank {self.rank}: the process that runs the released code got fewer cores or a "
                f"lower priority than the one with {self.code}. Leave both as they are."
            )

    def state(self, arrays: int) -> tuple[list[float], Any]:
        """Return what describes the learner's optimizer, and its parameters.

        arrays: 1 for only the parameters; more to append optimizer arrays of the same size.
        """
        self.give_turn("learner")
        optimizer, state = self.ask("learner", "state", arrays)
        if state is None or state.size != arrays * self.sizes["learner"]:
            raise FailedError(f"Rank {self.rank}: the learner's network is not the lesson's.")
        return optimizer, state

    def late(self, times: Times, chosen: int, params: Any) -> None:
        """Make sure that the learner's parameters have not changed since the clock stopped."""
        shown = params[places(chosen, self.sizes["learner"])]
        if not np.array_equal(times.values, shown, equal_nan=True):
            raise FailedError(
                f"Rank {self.rank}: parameters changed after the end of a phase. Complete a step "
                "before it returns."
            )

    def end_learner(self) -> None:
        self.give_turn("learner")
        self.end("learner", self.ready["yardstick"]["learner"])
