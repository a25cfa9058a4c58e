"""Control the two processes of a rank, which take turns, and measure their phases."""

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
STOP_S = 10  # seconds for a busy machine to stop a process
LEAVE_S = 10  # seconds for the other ranks to leave
END_S = 60  # seconds for the exit handlers of frameworks
PHASE_S = 600  # seconds to wait for a process's answer


class FailedError(Exception):
    """A process failed. The message is a sentence for the user and names the process and rank."""


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
    """The measurements of one phase, from the conductors of all ranks."""

    seconds: float  # until the slowest rank was done
    cpu_s: float  # of all ranks together
    cores: int  # that a process may use: the fewest on any rank, or the most if together
    values: Any = None  # some of this rank's parameters, right at the end


class Turns:
    """The processes of one rank. The learner is stopped while the yardstick works.

    code: the student's file, for messages.
    """

    def __init__(self, hub: Hub, framework: str, code: str) -> None:
        self.hub, self.rank, self.code = hub, hub.rank, code
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
        self.sizes = {who: int(ready["size"]) for who, ready in self.ready.items()}

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
            whose = self.code if who == "learner" else "the program"
            raise FailedError(f"Rank {self.rank}: {whose} failed. The error is above this line.")
        if isinstance(words, dict) and words.get("left"):
            self.leave(silently=words["left"] == "silently")
            raise EndedError(self.channels[who])
        return words, numbers

    def leave(self, silently: bool) -> None:
        """Wait until the other ranks have left, too. Otherwise they would see an error."""
        with contextlib.suppress(EndedError, LateError):
            if self.rank == 0:
                for peer in self.hub.peers:
                    peer.receive(LEAVE_S)
            elif silently:
                self.hub.exchange("left")  # ends when rank 0 does, which has said why

    def ask(self, who: str, *words: Any, numbers: Any = None) -> tuple[Any, Any]:
        with contextlib.suppress(EndedError):  # then nothing is heard either
            self.channels[who].send(words, numbers)
        return self.heard(who)

    def give_turn(self, who: str) -> list[int]:
        """Let only this process and its descendants run. Return their ids."""
        yardstick = {self.process.pid}
        others = processes.descendants(os.getpid()) - yardstick
        runs, waits = (yardstick, others) if who == "yardstick" else (others, yardstick)
        processes.send(signal.SIGSTOP, waits)
        processes.wait_for("T", waits, STOP_S)
        processes.send(signal.SIGCONT, runs)
        return sorted(runs)

    def measure(self, phase: Phase, seeds: Iterable[int], steps: int) -> Times:
        """Measure a phase. All ranks call this.

        A process gets the seed of its batches once the clock is running. Only after its last step
        does it learn which parameters to send. The clock stops when they arrive.
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

        arrays: 1 for the parameters only, more for other arrays of their size after them.
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
        """Let the learner exit normally, because MPI treats any other end as a failure."""
        self.give_turn("learner")
        with contextlib.suppress(EndedError):
            self.channels["learner"].send(["end"])
        processes.wait_for("", [self.ready["yardstick"]["learner"]], END_S)

    def kill(self) -> None:
        """End both processes, and all that they started."""
        processes.send(signal.SIGKILL, processes.descendants(os.getpid()))
        self.process.wait()
