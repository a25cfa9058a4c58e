"""Check which rank reads which sample, and in how many steps (8.2 to 8.5).

Several ranks are simulated by threads of this process.
"""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.lesson_08.parts import ONE_LIST, as_lists
from lessons.toolkit.checks.lesson_08.program import check_program
from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    compare,
    exercise,
    failure,
    number,
    shown,
)
from lessons.toolkit.checks.shared.ranks_as_threads import Hangs, on_ranks
from lessons.toolkit.ranks import DataDistributionError

Function = Callable[..., Any]


def ranks(number: int) -> str:
    return "1 rank" if number == 1 else f"{number} ranks"


@exercise("8.2")
def check_8_2(round_robin: Function) -> str:
    """Every item goes to exactly one rank, and shares differ by at most one item."""
    for items, size in ((7, 2), (8, 2), (10, 4), (3, 3), (5, 1), (2, 3)):
        names = [f"part_{n}" for n in range(items)]
        shares = as_lists(round_robin(list(names), size), f"round_robin({items} files)", size)
        given = Counter(name for share in shares for name in share)
        what = f"{items} files on {ranks(size)}"
        if lost := sorted(set(names) - set(given)):
            raise CheckFailed(
                f"{what}: every file is read",
                f"{', '.join(lost)} by nobody",
                why_lost(shares, names, lost),
            )
        if twice := sorted(name for name, count in given.items() if count > 1):
            raise CheckFailed(
                f"{what}: every file is read once",
                f"{', '.join(twice[:3])} by several ranks",
                "Rank r takes items r, r + size, r + 2 size and so on. "
                + (ONE_LIST if shares.count(shares[0]) == size else ""),
            )
        lengths = [len(share) for share in shares]
        if max(lengths) - min(lengths) > 1:
            raise CheckFailed(
                f"{what}: numbers of files differ by at most 1",
                f"{lengths}",
                "Deal the files out one by one, like cards.",
            )
        if shares != [names[rank::size] for rank in range(size)]:
            raise CheckFailed(
                f"{what}: the first rank gets {', '.join(names[::size])}",
                ", ".join(map(str, shares[0])),
                "Each rank takes the next item in turn, not a block of them.",
            )
    return "7 files on 2 ranks are 4 and 3; each file is read once."


def why_lost(shares: list[list[Any]], names: list[str], lost: list[str]) -> str:
    """Return the probable mistake that keeps items from reaching any rank."""
    whole_rounds = len(names) // len(shares) * len(shares)
    starts = [names.index(share[0]) for share in shares if share and share[0] in names]
    blocks = [names[at : at + len(share)] for at, share in zip(starts, shares, strict=False)]
    if names[0] in lost:
        return "Ranks and items are numbered from 0, as in range(size): rank 0 begins with item 0."
    if blocks == shares and max(map(len, shares)) > 1:
        return (
            "These are blocks. Deal the items out one by one, like cards, so that none is "
            "left over."
        )
    if lost == names[whole_rounds:]:
        return "Do not drop the items that are left after the last complete round."
    return "Deal the items out one by one, like cards, until none is left."


def files(*_: Any) -> list[str]:
    return [f"part_{n}" for n in range(7)]


def no_folder(*_: Any) -> list[str]:
    raise FileNotFoundError("no folder data/parts")


@exercise("8.3")
def check_8_3(distribute: Function, program: Any) -> str:
    """Rank 0 loads, and every rank gets a share. An error on rank 0 is an error on every rank."""
    called: list[str] = []

    def load() -> list[str]:
        called.append(threading.current_thread().name)
        return files()

    for size in (1, 2, 3):
        called.clear()
        found = on_ranks(size, lambda comm: distribute(comm, load))
        raise_what_went_wrong(found, f"7 files on {ranks(size)}")
        right = [files()[rank::size] for rank in range(size)]
        if len(called) != 1:
            raise CheckFailed(
                "load() is called once, on rank 0",
                f"called {len(called)} times on {ranks(size)}",
                "Two nodes may list a folder in different orders: only rank 0 may list it, "
                "`if comm.Get_rank() == 0:`.",
            )
        if found != right:
            missing = "Is there a `return` in front of it?" if None in found else ""
            raise CheckFailed(
                f"rank 0 of {size} gets {', '.join(right[0])}",
                shown(found[0]),
                missing
                or "Call round_robin on rank 0; then comm.scatter *returns* each rank's share.",
            )
    failures: list[tuple[str, Function]] = [
        ("a folder that does not exist", no_folder),
        ("an empty folder", list),
        ("2 files on 3 ranks", lambda: files()[:2]),
    ]
    for what, loader in failures:
        found = on_ranks(3, lambda comm, loader=loader: distribute(comm, loader))
        everywhere(found, what)
    check_program(program)
    return (
        "Only rank 0 lists the folder. If it is missing or empty, every rank raises an error, "
        "and nobody waits."
    )


def raise_what_went_wrong(found: list[Any], what: str) -> None:
    for result in found:
        if isinstance(result, NotImplementedError):
            raise result
    hanging = [result for result in found if isinstance(result, Hangs)]
    errors = [result for result in found if isinstance(result, Exception)]
    if any(isinstance(result, SystemExit) for result in found):
        raise CheckFailed(f"{what}: every rank gets its share", "sys.exit()", ENDS_ONE_RANK)
    if errors and errors != hanging:
        only_elsewhere(found, what)
        raise next(error for error in errors if not isinstance(error, Hangs))
    if hanging:
        raise CheckFailed(
            f"{what}: every rank gets its share",
            str(hanging[0]),
            "All ranks have to call the same collectives in the same order.",
        )


ENDS_ONE_RANK = (
    "sys.exit() ends one rank, and the others wait for it. Send the problem to all (comm.bcast), "
    "then raise DataDistributionError on every rank."
)


def only_elsewhere(found: list[Any], what: str) -> None:
    """Raise CheckFailed for an error that occurs only on ranks other than 0.

    Such an error usually concerns a variable that only rank 0 has.
    """
    faults = [(rank, e) for rank, e in enumerate(found) if isinstance(e, Exception)]
    rank, error = next((rank, e) for rank, e in faults if not isinstance(e, Hangs))
    if rank and isinstance(error, TypeError | UnboundLocalError):
        raise CheckFailed(
            f"{what}: every rank gets its share",
            f"on rank {rank} {with_its_line(error)}",
            "Only rank 0 has what it loads. The other ranks get it only as the value that "
            "comm.bcast or comm.scatter *returns*. Before that call, set the name to None on "
            "every rank.",
        )


def with_its_line(error: Exception) -> str:
    """Return an error's message, with the line of the student's code where it happened."""
    return str(failure(error, with_its_line).args[1])


def everywhere(found: list[Any], what: str) -> None:
    expected = f"{what}: DataDistributionError on every rank"
    for rank, result in enumerate(found):
        if isinstance(result, SystemExit):
            raise CheckFailed(expected, f"rank {rank}: sys.exit()", ENDS_ONE_RANK)
    if hanging := [result for result in found if isinstance(result, Hangs)]:
        if told := [thing for thing in hanging[0].received if thing is not None]:
            raise CheckFailed(
                expected,
                f"bcast returns {shown(told[0])}, and then {hanging[0]}",
                "comm.bcast(…) returns rank 0's value on every rank but changes no variable: write "
                "`problem = comm.bcast(problem)`. Then every rank checks it and raises.",
            )
        raise CheckFailed(
            expected,
            str(hanging[0]),
            "Rank 0 ended with its error while the others wait for a message. Catch the error, "
            "send the message first (comm.bcast), then raise on all.",
        )
    for rank, result in enumerate(found):
        if not isinstance(result, DataDistributionError):
            advice = "Fewer files than ranks is an error: some rank would have nothing to do."
            if isinstance(found[0], Exception) and not isinstance(result, Exception):
                advice = (
                    "Rank 0 raises an error, but the others do not know about it: send the "
                    "problem to all ranks (bcast)."
                )
            elif result is None:
                advice = "`return None` gives no reason: raise DataDistributionError(problem)."
            elif isinstance(result, Exception):
                advice = "Raise DataDistributionError with the message that rank 0 sent."
            shown_result = type(result).__name__ if isinstance(result, Exception) else shown(result)
            raise CheckFailed(expected, f"rank {rank}: {shown_result}", advice)


MEAN = "This is the mean, but the rank with the fewest images does not have that many batches."
TOGETHER = "This adds up the steps of all ranks, but the ranks take each step at the same time."
COUNTS = [([3200, 3200], 32, 100), ([3200, 2400], 32, 75), ([100, 101], 32, 4), ([129, 96], 32, 3)]


@exercise("8.4")
def check_8_4(common_steps: Function) -> str:
    """The rank with the fewest images sets the step count; a smaller last batch is also a step."""
    for counts, batch, right in COUNTS:
        most = max(-(-count // batch) for count in counts)
        together, mean = sum(counts) / batch, sum(counts) / len(counts) / batch
        compare(
            number(common_steps(list(counts), batch), f"common_steps({counts}, {batch})"),
            right,
            f"common_steps({counts}, {batch})",
            {
                most: "A rank with fewer images runs out of batches, and the others wait for it: "
                "take the minimum over the ranks.",
                **dict.fromkeys((mean, mean // 1, -(-mean // 1)), MEAN),
                **dict.fromkeys((together, together // 1, -(-together // 1)), TOGETHER),
                min(counts) // batch: "A smaller last batch is also a step: round up.",
                min(counts) / batch: "Steps are whole: round up with math.ceil.",
                min(counts): "These are images. A step takes `batch` of them.",
            },
        )
    return "3200 and 2400 images in batches of 32: 75 steps on both ranks."


@exercise("8.5")
def check_8_5(my_samples: Function) -> str:
    """In each epoch all ranks together read every sample once, in a new order."""
    n, size = 23, 4
    orders = []
    for epoch in (0, 1, 2):
        shares = [[int(i) for i in my_samples(n, rank, size, epoch)] for rank in range(size)]
        again = [[int(i) for i in my_samples(n, rank, size, epoch)] for rank in range(size)]
        given = Counter(index for share in shares for index in share)
        if again != shares:
            raise CheckFailed(
                "the same indices whenever epoch and rank are the same",
                "different ones at each call",
                "A generator without a seed differs on every rank: default_rng([seed, epoch]).",
            )
        twice = sum(count > 1 for count in given.values())
        lost = n - len(given)
        if twice or lost:
            raise CheckFailed(
                f"{n} samples on {size} ranks: each is read once",
                f"{twice} more than once, {lost} never",
                "All ranks have to draw the same order, so keep the rank out of the seed. Each "
                "rank then takes every size-th index: order[rank::size].",
            )
        orders.append([index for share in shares for index in share])
    if orders[0] == orders[1] or orders[1] == orders[2]:
        raise CheckFailed(
            "a different order in epoch 1 than in epoch 0",
            "the same",
            "Put the epoch into the seed: default_rng([seed, epoch]).",
        )
    if sorted(my_samples(n, 0, size, 0)) == list(range(0, n, size)):
        raise CheckFailed(
            "samples in random order", "rank 0 always reads 0, 4, 8, …", "Shuffle before slicing."
        )
    return (
        "Each sample is read once per epoch, in an order that all ranks share and that is new "
        "each epoch."
    )
