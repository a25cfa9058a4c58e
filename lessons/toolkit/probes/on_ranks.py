"""Run the tests of a probe.py on all ranks, and record the worst value of each measure.

    tests = {many_against_one: ("probe_error", "probe_spread"), alone: ("alone_error",)}
    device = meet(start_ranks, "10", args, tests)
    run_tests(Run("10", args, source="probe"), tests, device)

Each rank calls the tests in the same order. A test returns, or yields, pairs of a measure and its
value, where a larger value is worse. All measures of a test that raises an error or does not end
are recorded as failed.
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from cluster.launchers import launched
from lessons.toolkit.record import Run

PATIENCE = 60.0  # seconds for a test; on a busy machine, importing DDP alone takes half of that
ON_GPUS = 3  # times as long, because the first kernels may have to be compiled
# The ranks' groups wait longer, so that a stuck test is recorded before a collective ends the rank.
GROUP_TIMEOUT = timedelta(seconds=2 * ON_GPUS * PATIENCE)

Test = Callable[..., Iterable[tuple[str, float]]]
Tests = Mapping[Test, Sequence[str]]


def meet(start: Callable[[], Any], lesson: str, args: Any, tests: Tests) -> Any:
    """Return what `start` returns after the ranks have met.

    If it raises an error, as an open gap does, or does not end, this process records all measures
    of the tests as failed, and ends.
    """

    def give_up(reason: str) -> None:
        me = launched()
        place = (me.rank, me.size, me.local_rank) if me else (0, 1, 0)
        names = dict(zip(("rank", "size", "local_rank"), place, strict=True))
        # Rank 0 may still wait for the others, and only its record counts.
        wait = 2 if place[0] == 0 else (ON_GPUS + 1) * PATIENCE
        fail(Run(lesson, args, source="probe", **names), all_measures(tests), reason, wait)

    with in_time(PATIENCE, "the ranks' meeting", give_up):
        return start()


def run_tests(run: Any, tests: Tests, *values: Any, patience: float = PATIENCE) -> None:
    """Run the tests in this order, and end the run.

    tests: each with the names of its measures. values: what every test is called with. patience:
    after so many seconds, or three times as many on GPUs, a test is stuck, and with it all that
    follow, because its ranks still wait for each other.
    """
    for number, (test, names) in enumerate(tests.items()):
        name = getattr(test, "__name__", "test")
        left = all_measures(dict(list(tests.items())[number:]))

        def give_up(reason: str, left: list[str] = left) -> None:
            fail(run, left, reason)

        with in_time(patience, name, give_up):
            found, reason = attempt(test, values)
            if reason:
                print(f"rank {run.rank}, {name}: {reason}", file=sys.stderr, flush=True)
            everyone = run.everyone((found, reason))  # an error: another rank has ended
        reasons = [f"rank {rank}: {why}" for rank, (_, why) in enumerate(everyone) if why]
        worst = {} if reasons else worst_values([values for values, _ in everyone])
        result = reasons[0] if reasons else ", ".join(f"{k} {v:.3g}" for k, v in worst.items())
        if run.rank == 0:
            print(f"{name}: {'FAILED: ' if reasons else ''}{result}", flush=True)
        for measure in dict.fromkeys([*names, *worst]):
            record(run, measure, worst.get(measure), reasons[0] if reasons else "")
    run.end()


def all_measures(tests: Tests) -> list[str]:
    return [measure for names in tests.values() for measure in names]


@contextmanager
def in_time(patience: float, name: str, give_up: Callable[[str], None]) -> Iterator[None]:
    """Give up if the `with` block raises an error, or, in another thread, if it does not end."""
    decided = threading.Lock()  # only one thread writes the record; the other waits for the end
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    has_gpu = (torch is not None and torch.cuda.is_available()) or (
        tensorflow is not None and tensorflow.config.list_physical_devices("GPU")
    )
    patience *= ON_GPUS if has_gpu else 1

    def late() -> None:
        if decided.acquire(blocking=False):
            give_up(f"{name} did not end within {patience:.0f} s: a rank waits for another one")

    watch = threading.Timer(patience, late)
    watch.daemon = True
    watch.start()
    reason = ""
    try:
        yield
    except (Exception, SystemExit) as error:
        reason = said(error)
    watch.cancel()
    if not decided.acquire(blocking=False):
        threading.Event().wait()
    if reason:
        give_up(f"{name}: {reason}")


def attempt(test: Test, values: Sequence[Any]) -> tuple[dict[str, float], str]:
    """Return the test's measures, and the reason if it failed."""
    found: dict[str, float] = {}
    try:
        for measure, value in test(*values):
            found[measure] = float(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an open gap, or a mistake, as CheckpointException may tell
        return found, said(error)
    return found, ""


def said(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:100]}".removesuffix(": ")


def worst_values(everyone: list[dict[str, float]]) -> dict[str, float]:
    """Return the largest value of each measure that all ranks have. NaN is the largest of all."""
    names = [name for name in everyone[0] if all(name in values for values in everyone)]
    return {name: max((v[name] for v in everyone), key=lambda x: (x != x, x)) for name in names}


def record(run: Any, measure: str, value: float | None, reason: str) -> None:
    if value is not None and math.isfinite(value):
        run.measure(measure, value)
    else:
        run.measure(measure, None, failed=reason or f"the result is {value}")


def fail(run: Any, measures: Iterable[str], reason: str, wait: float | None = None) -> None:
    """Record the measures as failed, and end this process, whose other threads may wait."""
    if run.rank == 0:
        print(f"FAILED: {reason}", flush=True)
    for measure in measures:
        record(run, measure, None, reason)
    run.end()
    # Launchers end all ranks when one of them fails, and the others write as well.
    time.sleep(wait or (2 if run.rank == 0 else 10))
    os._exit(1)
