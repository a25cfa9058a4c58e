"""Serve the conductor's requests one by one, in the processes that do the work."""

import contextlib
import importlib
import os
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lessons.toolkit.clock.messages import Channel, EndedError
from lessons.toolkit.clock.processes import end_with_parent
from lessons.toolkit.record import devices, program, run_record

PLACES = 1000  # parameters that are looked at when a phase ends
FOREVER = 10**6


class Work(Protocol):
    """A network that a process trains on random images. PyTorch and Keras have one each."""

    size: int  # number of trainable parameters
    counted: int  # number of parameters, as the framework counts them
    lr: float

    def train(self, seed: int, steps: int, *words: Any) -> None:
        """Train for `steps` steps on the batches of this seed.

        Wait until all parameters are complete. words: the phase's `words`.
        """

    def values(self, places: Any) -> Any:
        """Return the parameters at these indices in the flat array of all parameters."""

    def state(self) -> tuple[list[float], list[Any]]:
        """Return the optimizer's numbers, and flat arrays: the parameters, then its own.

        For Adam, these are the step count and learning rate, and the two moments.
        """

    def load(self, optimizer: list[float], state: Any) -> None:
        """Restore what `state` returns, with its arrays joined into one."""

    def batches(self, seed: int, steps: int) -> Any:
        """Return an iterator over the batches of this seed."""

    def gradient(self, batch: Any) -> Any:
        """Return the gradient of all parameters for this batch, as a flat array.

        Only data-parallel training asks for it, and for `apply`.
        """

    def apply(self, gradient: Any) -> None:
        """Take an optimizer step with this gradient."""

    def measures(self) -> list[dict[str, Any]]:
        """Return other measures for the record. Only the stages of a pipeline have any."""


def places(seed: int, size: int) -> Any:
    """Return the positions of some parameters, drawn at random with this seed."""
    return np.random.default_rng(seed).integers(0, size, PLACES)


def start_both(sockets: list[int], framework: str, alone: Any, together: Any) -> None:
    """Load only the framework, then fork: the parent is the yardstick, the child is the learner.

    Loading a framework takes seconds, so it is done only once for both processes. Neither process
    has built a network at that point.
    """
    end_with_parent()
    os.dup2(2, 1)  # the conductor alone writes the record
    importlib.import_module(framework)
    mine, learners = sockets
    if pid := os.fork():
        os.close(learners)
        serve(mine, alone, framework, learner=pid)
    else:
        end_with_parent()
        os.close(mine)
        sys.path.insert(0, str(Path(sys.argv[0]).parent))  # as if the program itself had started
        serve(learners, together, framework)


def serve(number: int, make: Any, framework: str, learner: int | None = None) -> None:
    """Create the Work object, and answer the conductor's requests until the conductor ends."""

    def answers(channel: Channel) -> None:
        work = make()
        ready = {"size": work.size, "params": work.counted, "lr": work.lr, "learner": learner}
        channel.send(ready | of_process(framework))
        while answer(work, channel):
            pass

    until_the_end(number, answers)


def until_the_end(number: int, answers: Callable[[Channel], None]) -> None:
    """Answer the conductor's requests until it ends, and report how this process ends."""
    channel = Channel(Connection(socket.socket(fileno=number).detach()))
    at_end = False
    try:
        answers(channel)
        at_end = True
        if "mpi4py.MPI" in sys.modules or "horovod" in sys.modules:
            sys.exit()  # MPI's exit handler, too, has to run on every rank
    except EndedError:
        pass
    except SystemExit as ended:
        if at_end:
            raise
        if ended.code:
            print(ended.code, file=sys.stderr)
        channel.send({"left": "silently" if not ended.code else "with a sentence"})
        with contextlib.suppress(EndedError):
            channel.receive(FOREVER)  # the others may still be connecting to this process
    except BaseException:
        # The conductor writes the sentence for the user.
        traceback.print_exc()
        channel.send({"failed": True})
    finally:
        sys.stderr.flush()
    os._exit(0)  # no exit handler of a framework waits for a rank that has already ended


def of_process(framework: str) -> dict[str, Any]:
    """Return the facts for the record that only a process with the framework can determine."""
    return {
        "files": sorted(program.program_files()),
        "versions": run_record.versions(),
        "device": devices.device(framework),
        "threads": devices.threads(framework),
    }


def answer(work: Work, channel: Channel) -> bool:
    """Answer the next request. Return whether more requests may follow."""
    asked, numbers = channel.receive(FOREVER)
    match asked:
        case ["train", seed, steps, *words]:
            work.train(seed, steps, *words)
            channel.send()
        case ["values", seed, size]:
            channel.send(numbers=work.values(places(seed, size)))
        case ["state", arrays]:
            optimizer, state = work.state()
            channel.send(optimizer, np.concatenate(state[:arrays]))
        case ["load", optimizer]:
            work.load(optimizer, numbers)
            channel.send()
        case ["batches", seed, steps]:
            work.following = work.batches(seed, steps)  # type: ignore[attr-defined]
            channel.send()
        case ["gradient"]:
            channel.send(numbers=work.gradient(next(work.following)))  # type: ignore[attr-defined]
        case ["apply"]:
            work.apply(numbers)
            channel.send()
        case ["measures"]:
            channel.send(work.measures())
        case ["end"]:
            return False
    return True
