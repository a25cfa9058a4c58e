"""Run a student's function on real ranks: processes forked from this one, which meet with Gloo.

Loading PyTorch takes seconds, and a fork has it already. A check whose ranks call `backward` needs
`@in_new_python`.
"""

import contextlib
import datetime
import functools
import gc
import importlib
import inspect
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, failure, task_of

PATIENCE = datetime.timedelta(seconds=5)  # that a rank waits for another one on an idle machine
MEETING = datetime.timedelta(seconds=15)  # that a rank waits until all have started
GLOO = ("timed out", "timeout", "closed by peer", "connection reset", "connection refused")
NO_GPUS = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
NEW_PYTHON = """import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
pickle.load(sys.stdin.buffer)()"""


def in_new_python(function: Callable[[ModuleType], str]) -> Callable[[ModuleType], str]:
    """Run a check of a program, as it is saved, in a new Python that sees no GPU.

    PyTorch refuses `backward` in a fork of a process that has called it and sees a GPU.
    """

    @functools.wraps(function)
    def check(program: ModuleType) -> str:
        file = Path(str(program.__file__)).resolve()
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder, "answer")
            public = getattr(sys.modules[function.__module__], function.__name__)
            call = functools.partial(write_answer, public, program.__name__, answer)
            done = subprocess.run(
                [sys.executable, "-c", NEW_PYTHON],
                input=pickle.dumps([str(file.parent), *sys.path]) + pickle.dumps(call),
                env=os.environ | NO_GPUS,
            )
            if not answer.exists():
                found = f"its Python ended with code {done.returncode}"
                raise CheckFailed("the check ends", found, "The lines above may say why.")
            how, result = pickle.loads(answer.read_bytes())
        if how == "raised":
            raise result
        return str(result)

    return check


def write_answer(check: Any, program: str, answer: Path) -> None:
    """Write how the check of this program ends into the file `answer`."""
    function = inspect.unwrap(check)
    ended = outcome(lambda: function(importlib.import_module(program)), check)
    answer.write_bytes(pickle.dumps(ended))


def outcome(work: Callable[[], Any], check: Any, waits: Sequence[str] = ()) -> tuple[str, Any]:
    """Return how the work ended, and its result or error. waits: words of errors of waiting."""
    try:
        return "returned", work()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # as CheckpointException is
        if isinstance(error, CheckFailed) or task_of(error):
            return "raised", error
        if any(words in str(error).lower() for words in waits):
            return "waits", None
        return "raised", failure(error, inspect.unwrap(check))


def patience() -> datetime.timedelta:
    """Return how long a rank waits for another one: up to three times as long if all is busy."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return PATIENCE * min(max(load, 1), 3)


@contextlib.contextmanager
def kept_from_forks() -> Iterator[None]:
    """Let forked processes not collect this one's garbage: threads in it would block their end.

    A fork has no thread but its own, so the end of, say, a process group waits there forever.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def on_ranks(size: int, work: Callable[[int], Any], check: Any, hangs: str) -> list[Any]:
    """Return what work(rank) returns on each rank, or raise the error of one of them.

    check: the public check that asks, for messages. hangs: advice if ranks wait forever.
    """
    context = multiprocessing.get_context("fork")
    with kept_from_forks(), tempfile.TemporaryDirectory() as folder:
        ranks: dict[Connection, Any] = {}
        for rank in range(size):
            mine, theirs = context.Pipe(duplex=False)
            given = (f"{folder}/meet", size, rank, work, check, theirs)
            ranks[mine] = context.Process(target=one_rank, args=given, daemon=True)
            ranks[mine].start()
            theirs.close()
        try:
            return answers(list(ranks), hangs)
        finally:
            for process in ranks.values():
                process.kill()
                process.join()


def answers(pipes: list[Connection], hangs: str) -> list[Any]:
    """Return the ranks' results, or raise the first error of a rank."""
    found: dict[Connection, Any] = {}
    while len(found) < len(pipes):
        waiting = [pipe for pipe in pipes if pipe not in found]
        ready = wait(waiting, 4 * patience().total_seconds())
        for pipe in [each for each in ready if isinstance(each, Connection)]:
            try:
                found[pipe] = pickle.loads(pipe.recv_bytes())
            except EOFError:
                found[pipe] = ("ended", None)
            if found[pipe][0] == "raised":
                raise found[pipe][1]
        if not ready:
            break
    for rank, pipe in enumerate(pipes):
        how = found.get(pipe, ("waits", None))[0]
        if how != "returned":
            raise CheckFailed("all ranks go on", f"rank {rank} {how} before the others", hangs)
    return [found[pipe][1] for pipe in pipes]


def one_rank(
    meet: str, size: int, rank: int, work: Callable[[int], Any], check: Any, pipe: Connection
) -> None:
    """Send what work(rank) returns, or why it fails, and end without exit handlers."""
    import torch
    import torch.distributed as dist

    def in_group() -> Any:
        result = work(rank)
        dist.barrier()  # no rank ends while another one still receives its messages
        return result

    warnings.simplefilter("ignore")  # of each rank, on the student's page
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # a site file may name a compute node's interface
    try:
        store = dist.FileStore(meet, size)
        store.set(f"started {rank}", "")
        store.wait([f"started {each}" for each in range(size)], MEETING)
        dist.init_process_group("gloo", None, patience(), size, rank, store)
    except Exception as error:
        advice = "Your program was not called. Check again; if it fails again, ask for help."
        answer = "raised", CheckFailed(f"{size} ranks meet on this computer", str(error), advice)
    else:
        answer = outcome(in_group, check, GLOO)
    pipe.send_bytes(pickle.dumps(answer))
    os._exit(0)
