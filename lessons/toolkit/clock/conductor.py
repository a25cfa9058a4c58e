"""Conduct a speed job on one rank: start its processes, measure, and write the record.

A conductor imports neither a framework nor the student's program, and it does not use MPI. Each
conductor starts two processes: the *yardstick*, which imports only released code, and the
*learner*. The conductors of all ranks talk to each other through rank 0 (hub.py).
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.launchers import launched
from lessons.toolkit.clock import rounds, serve
from lessons.toolkit.clock.data_parallel import DataParallel
from lessons.toolkit.clock.hub import Hub, UnmetError, free_port
from lessons.toolkit.clock.messages import EndedError, LateError, LeftError
from lessons.toolkit.clock.record import ConductorsRecord
from lessons.toolkit.clock.turns import Turns
from lessons.toolkit.clock.workers import ISOLATED, FailedError
from lessons.toolkit.ranks.leaving import leave

ROLE: list[str] = []  # set by isolated.py
CONDUCTOR = "conductor"


@dataclass(frozen=True)
class Job:
    """The facts that a rank's processes know about their job."""

    args: Any
    rank: int
    size: int
    local_rank: int


def conduct(
    alone: Callable[[Job], serve.Work],
    together: Callable[[Job], serve.Work],
    parser: Any,
    *,
    lesson: str,
    framework: str,
    kind: rounds.Kind | None = None,
) -> None:
    """Measure a program's speed job. The program ends with this call.

    alone: a function that makes the Work of a rank that exchanges nothing; runs in the yardstick.
    together: a function that makes the Work of a rank that uses the student's code; runs in the
    learner.
    kind: what the rounds consist of; default: data-parallel training.
    """
    args = arguments(parser)
    if min(args.rounds, args.steps, args.batch_size, args.width) < 1:
        parser.error("--rounds, --steps, --batch-size and --width must be at least 1")
    me = launched()
    if me is None or me.size < 2 or me.launcher == "torchrun":
        name = Path(sys.argv[0]).name
        text = f"{name} compares ranks: start it with mpirun or srun, on at least two."
        leave(me.rank if me else 0, text)
    job = Job(args, me.rank, me.size, me.local_rank)
    if ROLE != [CONDUCTOR]:
        framework, *sockets = ROLE[0].split(",")
        both = (lambda: alone(job)), (lambda: together(job))
        serve.start_both([int(number) for number in sockets], framework, *both)
    with one_sentence(job.rank):
        measured(job, lesson, framework, kind or DataParallel())


def arguments(parser: Any) -> Any:
    """Return the program's arguments, in an interpreter that loads no student code by itself."""
    if not ROLE:  # started by a launcher: start again
        words = ["-I", "-u", str(ISOLATED), CONDUCTOR, os.path.abspath(sys.argv[0]), *sys.argv[1:]]
        os.execv(sys.executable, [sys.executable, *words])
    return parser.parse_args()


@contextlib.contextmanager
def one_sentence(rank: int) -> Iterator[None]:
    """End the program with one sentence if the `with` block fails."""
    try:
        yield
    except (UnmetError, FailedError, LeftError) as problem:
        sys.exit(str(problem))
    except LateError:
        sys.exit(f"Rank {rank} has waited too long for another rank.")
    except EndedError:
        sys.exit(1)  # another process or rank says why


def measured(job: Job, lesson: str, framework: str, kind: rounds.Kind) -> None:
    hub = Hub(job.rank, job.size)
    # The learners of all ranks meet at another port, because this one is now in use.
    os.environ["MASTER_ADDR"] = hub.address
    os.environ["MASTER_PORT"] = str(hub.share(free_port()))
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # two processes share a GPU
    turns = None
    try:
        turns = Turns(hub, framework, kind.code)
        yardstick, learner = (turns.ready[who] for who in ("yardstick", "learner"))
        header = kind.facts(job.args, job.size) | {"framework": framework, "source": "speed"}
        header |= {"params": yardstick["params"], "lr": learner["lr"]}
        record = ConductorsRecord(lesson, job, hub, turns.ready, header)
        record.end(**rounds.measure(record, hub, turns, job.args, kind))
        turns.end_learner()
        hub.gather()  # no rank ends before all have written their lines
    finally:
        if turns:
            turns.kill()
