"""Check a mean over ranks (8.2), a share of what rank 0 has read (8.3), and common steps (8.4).

Several ranks are simulated by threads of this process.
"""

import functools
import io
import operator
import os
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
    check_number,
    compare,
    exercise,
    failure,
    number,
    shown,
)
from lessons.toolkit.ranks import DataDistributionError, DataDistributor, Hang, run_on_ranks
from lessons.toolkit.ranks.simulated_ranks import OtherRankFailed

FILES = [f"part_{n}" for n in range(7)]
RETURNS = (
    "Only rank 0 has what it loads; the others pass None. comm.bcast and comm.scatter *return* "
    "rank 0's value on every rank but change no variable. What do you do with what they return?"
)
ON_ALL = (
    "Every rank has to learn of rank 0's problem before the scatter. Which call tells them? "
    "sys.exit() would end one rank only, and all ranks call the same collectives in the same order."
)


class Summing:
    """A simulated rank that can also sum and gather, which lesson 06's exercises must not use."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def allgather(self, sendobj: Any) -> Any:
        return self.comm.from_all("allgather", sendobj)

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        everyone = self.comm.from_all("gather", sendobj)
        return everyone if self.comm.rank == root else None

    def allreduce(self, sendobj: Any, op: Any = None) -> Any:
        return functools.reduce(op or operator.add, self.comm.from_all("allreduce", sendobj))

    def reduce(self, sendobj: Any, op: Any = None, root: int = 0) -> Any:
        everyone = self.comm.from_all("reduce", sendobj)
        return functools.reduce(op or operator.add, everyone) if self.comm.rank == root else None


@exercise("8.2")
def check_8_2(accuracy: Function) -> str:
    """The accuracy over all ranks' images, also if a rank has fewer images, or none."""
    for counts in ([(90, 100), (10, 50)], [(30, 40), (10, 40)], [(9, 10), (0, 0), (3, 30)]):
        what = f"accuracy on ranks with {', '.join(f'{n} of {m}' for n, m in counts)} images right"
        try:
            found = run_on_ranks(lambda comm, own: accuracy(Summing(comm), *own), counts).results
        except Hang as hang:
            advice = "Every rank has to call the same collectives, in the same order."
            raise CheckFailed(f"{what}: no rank waits", f"it hangs: {hang}", advice) from None
        right, tested = (sum(column) for column in zip(*counts, strict=True))
        shares = [n / m for n, m in counts if m]
        mistakes = {
            sum(shares) / len(shares): "A rank with few images counts as much as one with many.",
            float(right): "That is a number of images, not a share of them.",
        }
        for rank, value in enumerate(found):
            compare(number(value, what), right / tested, f"{what}: rank {rank}", mistakes)
    return "Each image counts once, whichever rank has it."


@exercise("8.3")
def check_8_3(distribute: Function, program: Any) -> str:
    """Rank 0 loads, and every rank gets a share. An error on rank 0 is an error on every rank."""
    for size in (1, 2, 3):
        load = mock.Mock(return_value=list(FILES))
        what = f"7 files, {size} ranks"
        found = on_ranks(size, distribute, load, what)
        for rank, result in enumerate(found):
            if isinstance(result, Exception):
                said = f"rank {rank}: {failure(result, on_ranks).args[1]}"
                raise CheckFailed(f"{what}: every rank gets its share", said, RETURNS)
            if isinstance(result, SystemExit):
                raise CheckFailed(f"{what}: every rank gets its share", repr(result), ON_ALL)
        if load.call_count != 1:
            raise CheckFailed(
                "load() is called once, on rank 0",
                f"called {load.call_count} times on {size} ranks",
                "Two nodes may list a folder in different orders: only rank 0 may list it.",
            )
        if found != [FILES[rank::size] for rank in range(size)]:
            advice = f"Is there a `return`? Deal the items out on rank 0, then scatter. {RETURNS}"
            expected = f"{what}: rank 0 gets {', '.join(FILES[::size])}"
            raise CheckFailed(expected, shown(found[0]), advice)
    failures = {
        "a folder that does not exist": mock.Mock(side_effect=FileNotFoundError("no data/parts")),
        "an empty folder": mock.Mock(return_value=[]),
        "2 files on 3 ranks": mock.Mock(return_value=FILES[:2]),
    }
    for what, load in failures.items():
        for rank, result in enumerate(on_ranks(3, distribute, load, what)):
            if not isinstance(result, DataDistributionError):
                expected = f"{what}: DataDistributionError on every rank"
                raise CheckFailed(expected, f"rank {rank}: {result!r}", ON_ALL)
    check_program(program)
    return (
        "Only rank 0 lists the folder. If it is missing or empty, every rank raises an error, "
        "and nobody waits."
    )


def on_ranks(size: int, distribute: Function, load: Function, what: str) -> list[Any]:
    """Return what the function returns or raises on each rank."""
    errors: list[BaseException] = []

    def on_rank(comm: Any, _: None) -> Any:
        try:
            return distribute(comm, load)
        except (OtherRankFailed, NotImplementedError, Hang):
            raise
        except (Exception, SystemExit) as error:
            errors.append(error)
            return error

    try:
        return run_on_ranks(on_rank, [None] * size).results
    except Hang as hang:
        found = "; ".join([f"it hangs: {hang}", *map(repr, errors)])
        unset = any(isinstance(error, TypeError | UnboundLocalError) for error in errors)
        advice = RETURNS if unset else ON_ALL
        raise CheckFailed(f"{what}: no rank waits forever", found, advice) from None


def check_program(program: Any) -> None:
    """Check that `my_files` shares out a folder's files with a DataDistributor."""
    names = [f"part_{n:02d}.npz" for n in range(5)]
    expected, said = f"my_files on one rank returns all {len(names)} names", io.StringIO()
    pack = DataDistributor._pack  # used by a function that was decorated when or where you like
    watched = mock.patch.object(DataDistributor, "_pack", autospec=True, side_effect=pack)
    with TemporaryDirectory() as folder, watched as shared_out:
        there = [*names[::-1], "README.txt"]  # in no fixed order
        for name in there:
            (Path(folder) / name).touch()
        listed = mock.patch.object(os, "listdir", return_value=there)
        try:
            with listed, redirect_stderr(said):
                mine = program.my_files(folder)
        except SystemExit:
            found = f"the program ends: {said.getvalue().strip()}"
            advice = "This folder has 5 parts. Does the decorated function end with a `return`?"
            raise CheckFailed(expected, found, advice) from None
    if not shared_out.called and not callable(mine):
        raise CheckFailed(
            "my_files uses DataDistributor",
            "it does not",
            "Which class of the page shares out what a function lists?",
        )
    if mine != names:
        advice = (
            "Call the decorated function and return its result. os.listdir promises no order, and "
            "lists files that are no parts. Which function of the program lists the parts?"
        )
        raise CheckFailed(expected, shown(mine), advice)
    if not shared_out.call_args.args[0]._shutdown_on_error:
        advice = "If one rank raises an error, the program should end all ranks with the message."
        raise CheckFailed("shutdown_on_error=True", "False", advice)


MEAN = "This is the mean, but the rank with the fewest images does not have that many batches."
TOGETHER = "This adds up the steps of all ranks, but the ranks take each step at the same time."
COUNTS = [([3200, 3200], 32, 100), ([3200, 2400], 32, 75), ([100, 101], 32, 4), ([129, 96], 32, 3)]


@exercise("8.4")
def check_8_4(common_steps: Function) -> str:
    """The rank with the fewest images sets the step count; a smaller last batch is also a step."""
    for counts, batch, right in COUNTS:
        together, mean = sum(counts) / batch, sum(counts) / len(counts) / batch
        mistakes = {
            max(-(-count // batch) for count in counts): "A rank with fewer images runs out of "
            "batches. What do the others wait for?",
            **dict.fromkeys((mean, mean // 1, -(-mean // 1)), MEAN),
            **dict.fromkeys((together, together // 1, -(-together // 1)), TOGETHER),
            min(counts) // batch: "A smaller last batch is also a step.",
            min(counts) / batch: "Steps are whole. Does the smaller last batch count?",
        }
        check_number(common_steps, "common_steps", (counts, batch), right, mistakes)
    return "3200 and 2400 images in batches of 32: 75 steps on both ranks."
