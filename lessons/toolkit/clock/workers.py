"""Start the processes that do a rank's work, and talk to them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lessons.toolkit.clock import processes
from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.messages import LEFT, Channel, EndedError, LateError, LeftError

ISOLATED = Path(__file__).with_name("isolated.py")
LEAVE_S = 10  # seconds for the other ranks to leave
STOP_S = 10  # seconds for a busy machine to stop a process
END_S = 60  # seconds for the exit handlers of MPI and of frameworks
PHASE_S = 600  # seconds to wait for a process's answer


class FailedError(Exception):
    """A process failed. The message is a sentence for the user and names the process and rank."""


class Workers:
    """Processes of one rank, each with a name and a channel.

    role: what isolated.py gets, before the file numbers of the channels. code: the student's file,
    for messages.
    """

    def __init__(self, hub: Hub, role: str, code: str, names: Sequence[str]) -> None:
        self.hub, self.rank, self.code = hub, hub.rank, code
        processes.adopt_orphans()
        pairs = [socket.socketpair() for _ in names]
        numbers = [theirs.fileno() for _, theirs in pairs]
        # Some launchers of MPI programs talk to them over an open file.
        launchers = [int(fd) for fd in [os.environ.get("PMI_FD", "")] if fd.isdecimal()]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-u", ISOLATED, ",".join(map(str, [role, *numbers])), *sys.argv],
            pass_fds=[*numbers, *launchers],
        )
        for _, theirs in pairs:
            theirs.close()
        channels = [Channel(Connection(mine.detach())) for mine, _ in pairs]
        self.channels = dict(zip(names, channels, strict=True))
        self.ready = {who: self.heard(who)[0] for who in self.channels}

    def heard(self, who: str) -> tuple[Any, Any]:
        """Return a process's answer."""
        try:
            words, numbers = self.receive(who)
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

    def receive(self, who: str) -> tuple[Any, Any]:
        """Return a process's answer. If another rank leaves, this one may be leaving, too."""
        try:
            return self.channels[who].receive(PHASE_S, self.hub.peers)
        except LeftError as left:
            try:
                words, numbers = self.channels[who].receive(LEAVE_S)
            except LateError:
                raise left from None
            if isinstance(words, dict) and (words.get("left") or words.get("failed")):
                return words, numbers
            raise

    def leave(self, silently: bool) -> None:
        """Wait until the other ranks have left, too. Otherwise they would see an error."""
        for peer in self.hub.peers if self.rank == 0 else ():
            try:
                words, _ = peer.receive(LEAVE_S)
            except EndedError:
                continue
            except LateError:
                words = None
            if silently and words != LEFT:
                raise LeftError(0)
        if self.rank and silently:
            with contextlib.suppress(EndedError, LateError):
                self.hub.exchange(LEFT)  # ends when rank 0 does, which has said why

    def ask(self, who: str, *words: Any, numbers: Any = None) -> tuple[Any, Any]:
        with contextlib.suppress(EndedError):  # then nothing is heard either
            self.channels[who].send(words, numbers)
        return self.heard(who)

    def pause(self, pids: Collection[int]) -> None:
        processes.send(signal.SIGSTOP, pids)
        processes.wait_for("T", pids, STOP_S)

    def end(self, who: str, pid: int) -> None:
        """Let the process exit normally, because MPI treats any other end as a failure."""
        with contextlib.suppress(EndedError):
            self.channels[who].send(["end"])
        processes.wait_for("", [pid], END_S)

    def kill(self) -> None:
        """End all processes, and all that they started."""
        processes.send(signal.SIGKILL, processes.descendants(os.getpid()))
        self.process.wait()
