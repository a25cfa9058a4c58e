"""Make a rank's two processes take turns, and measure their phases."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from lessons.toolkit.clock import processes
from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.messages import Channel, EndedError, LateError
from lessons.toolkit.clock.serve import places

ISOLATED = Path(__file__).with_name("isolated.py")
PHASES = ("alone", "silent", "together")
STOP_S = 10  # seconds for a busy machine to stop a process
END_S = 60  # seconds for the exit handlers of frameworks
PHASE_S = 600  # seconds to wait for a process's answer


class FailedError(Exception):
    """A process failed. The message is a sentence for the user and names the process and rank."""


@dataclass(frozen=True)
class Phase:
    """The measurements of one phase, collected by the conductors of all ranks."""

    seconds: float  # until the slowest rank was done
    cpu_s: float  # of all ranks together
    cores: int  # that a process may use: the fewest on any rank, or the most if together
    values: Any = None  # some of this rank's parameters, right at the end


class Turns:
    """The processes of one rank.

    The learner process is paused while the yardstick process works.
    """

    def __init__(self, hub: Hub, framework: str) -> None:
        self.hub, self.rank = hub, hub.rank
        processes.adopt_orphans()
        pairs = [socket.socketpair() for _ in range(2)]
        numbers = [theirs.fileno() for _, theirs in pairs]
        role = ",".join(map(str, [framework, *numbers]))
        # Some launchers of MPI programs talk to them over an open file.
        launchers = [int(fd) for fd in [os.environ.get("PMI_FD", "")] if fd.isdecimal()]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-u", ISOLATED, role, *sys.argv],
            pass_fds=[*numbers, *launchers],
        )
        for _, theirs in pairs:
            theirs.close()
        channels = [Channel(Connection(mine.detach())) for mine, _ in pairs]
        self.channels = dict(zip(("yardstick", "learner"), channels, strict=True))
        self.ready = {who: self.heard(who)[0] for who in self.channels}
        self.size = self.ready["yardstick"]["size"]

    def heard(self, who: str) -> tuple[Any, Any]:
        """Return a process's answer."""
        try:
            words, numbers = self.channels[who].receive(PHASE_S, self.hub.peers)
        except LateError:
            raise FailedError(
                f"Rank {self.rank}: the {who} process has not answered for {PHASE_S} s. Do "
                "all ranks reach the same collective?"
            ) from None
        except EndedError as ended:
            if ended.channel is not self.channels[who]:
                raise  # another rank, which says why
            raise FailedError(f"Rank {self.rank}: the {who} process has ended.") from None
        if isinstance(words, dict) and words.get("failed"):
            whose = "train.py" if who == "learner" else "the program"
            raise FailedError(f"Rank {self.rank}: {whose} failed. The error is above this line.")
        return words, numbers

    def ask(self, who: str, *words: Any, numbers: Any = None) -> tuple[Any, Any]:
        with contextlib.suppress(EndedError):  # then nothing is heard either
            self.channels[who].send(words, numbers)
        return self.heard(who)

    def give_turn(self, who: str) -> list[int]:
        """Let only the process `who` and its descendants run. Return their ids."""
        yardstick = {self.process.pid}
        others = processes.descendants(os.getpid()) - yardstick
        runs, waits = (yardstick, others) if who == "yardstick" else (others, yardstick)
        processes.send(signal.SIGSTOP, waits)
        processes.wait_for("T", waits, STOP_S)
        processes.send(signal.SIGCONT, runs)
        return sorted(runs)

    def phase(self, name: str, seeds: Iterable[int], steps: int) -> Phase:
        """Measure a phase. All ranks call this.

        A process gets the seed of its batches once the clock is running. The process learns which
        parameters to send only after its last step. The clock stops when they arrive.
        """
        who = "learner" if name == "together" else "yardstick"
        works = name != "alone" or self.rank == 0
        images, chosen = seeds
        pids = self.give_turn(who)
        cpu, values = processes.cpu_seconds(pids), None
        self.hub.gather()
        began = time.perf_counter()
        if works:
            self.ask(who, "train", images + self.rank, steps)
            values = self.ask(who, "values", chosen, self.size)[1]
        seconds = time.perf_counter() - began
        found = [seconds, processes.cpu_seconds(pids) - cpu, processes.cores(pids)]
        self.look_for_disadvantage()
        every = list(zip(*self.hub.gather(found), strict=True))
        cores = (max if name == "together" else min)(every[2])
        return Phase(round(max(every[0]), 6), round(sum(every[1]), 3), cores, values)

    def look_for_disadvantage(self) -> None:
        """Make sure that nothing has reduced the yardstick's priority or its number of cores."""
        yardstick, own = self.process.pid, os.getpid()
        others = processes.descendants(own) - {yardstick}
        slower = processes.ranking(yardstick) - processes.ranking(own)
        if slower or processes.cores([yardstick]) < processes.cores(others):
            raise FailedError(
                f"Rank {self.rank}: the process that runs the released code got fewer cores or a "
                "lower priority than the one with train.py. Leave both as they are."
            )

    def state(self, arrays: int) -> tuple[list[float], Any]:
        """Return Adam's step count and learning rate, and the learner's parameters and moments.

        arrays: 1 for parameters only, 3 for the moments too.
        """
        self.give_turn("learner")
        adam, state = self.ask("learner", "state", arrays)
        if state is None or state.size != arrays * self.size:
            raise FailedError(f"Rank {self.rank}: the learner's network is not the lesson's.")
        return adam, state

    def late(self, phase: Phase, chosen: int, params: Any) -> None:
        """Make sure that the learner's parameters have not changed since the clock stopped."""
        shown = params[places(chosen, self.size)]
        if phase.values is None or not np.array_equal(phase.values, shown, equal_nan=True):
            raise FailedError(
                f"Rank {self.rank}: parameters changed after the end of a phase. Complete a step "
                "before it returns."
            )

    def end_learner(self) -> None:
        """Let the learner exit normally, because MPI treats any other end as a failure."""
        self.give_turn("learner")
        with contextlib.suppress(EndedError):
            self.channels["learner"].send(["end"])
        processes.wait_for("", [self.ready["yardstick"]["learner"]], END_S)

    def kill(self) -> None:
        """End both processes, and all that they started."""
        processes.send(signal.SIGKILL, processes.descendants(os.getpid()))
        self.process.wait()
