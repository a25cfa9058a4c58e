"""Run a student's function on real ranks: processes forked from this one, which meet with Gloo.

Loading PyTorch takes seconds, and a fork has it already.
"""

import datetime
import multiprocessing
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, failure

PATIENCE = datetime.timedelta(seconds=5)  # that a rank waits for another one
GLOO = ("timed out", "timeout", "closed by peer", "connection reset", "connection refused")


def on_ranks(size: int, work: Callable[[int], Any], check: Any, hangs: str) -> list[Any]:
    """Return what work(rank) returns on each rank, or raise the error of one of them.

    check: the public check that asks, for messages. hangs: advice if ranks wait forever.
    """
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        ranks: dict[Connection, Any] = {}
        for rank in range(size):
            mine, theirs = context.Pipe(duplex=False)
            given = (f"{folder}/meet", size, rank, work, check.__wrapped__, theirs)
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
        ready = wait([pipe for pipe in pipes if pipe not in found], 4 * PATIENCE.total_seconds())
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
    """Send what work(rank) returns, or why it fails, and leave without the exit handlers."""
    import torch
    import torch.distributed as dist

    warnings.simplefilter("ignore")  # of each rank, on the student's page
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    answer: tuple[str, Any]
    try:
        store = dist.FileStore(meet, size)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)
        answer = "returned", work(rank)
        dist.barrier()  # no rank ends while another one still receives its messages
    except (CheckFailed, NotImplementedError) as failed:
        answer = "raised", failed
    except Exception as error:
        waited = any(words in str(error).lower() for words in GLOO)
        answer = ("waits", None) if waited else ("raised", failure(error, check))
    pipe.send_bytes(pickle.dumps(answer))
    os._exit(0)
