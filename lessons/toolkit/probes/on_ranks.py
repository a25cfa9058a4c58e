"""Run the tests of a probe.py on all ranks, and record the worst value of each measure.

    run = Run("10", args, source="probe")
    tests = {many_against_one: ("probe_error", "probe_spread"), alone: ("alone_error",)}
    run_tests(run, tests, device)

Each rank calls the tests in the same order. A test returns, or yields, pairs of a measure and its
value, where a larger value is worse. All measures of a test that raises an error or does not end
are recorded as failed.
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

PATIENCE = 60.0  # seconds for a test; on a busy machine, importing DDP alone takes half of that

Test = Callable[..., Iterable[tuple[str, float]]]


def run_tests(
    run: Any, tests: Mapping[Test, Sequence[str]], *values: Any, patience: float = PATIENCE
) -> None:
    """Run the tests in this order, and end the run.

    tests: each with the names of its measures. values: what every test is called with. patience:
    the seconds after which a test is stuck, and with it all that follow, because its ranks still
    wait for each other.
    """
    for number, (test, names) in enumerate(tests.items()):
        name = getattr(test, "__name__", "test")
        left = [measure for later in list(tests.values())[number:] for measure in later]
        watch = threading.Timer(patience, give_up, [run, name, left, patience])
        watch.daemon = True
        watch.start()
        found, reason = attempt(test, values)
        if reason:
            print(f"rank {run.rank}, {name}: {reason}", file=sys.stderr, flush=True)
        everyone = run.everyone((found, reason))
        watch.cancel()
        reasons = [f"rank {rank}: {why}" for rank, (_, why) in enumerate(everyone) if why]
        worst = {} if reasons else worst_values([values for values, _ in everyone])
        said = reasons[0] if reasons else ", ".join(f"{k} {v:.3g}" for k, v in worst.items())
        if run.rank == 0:
            print(f"{name}: {'FAILED: ' if reasons else ''}{said}", flush=True)
        for measure in dict.fromkeys([*names, *worst]):
            record(run, measure, worst.get(measure), reasons[0] if reasons else "")
    run.end()


def attempt(test: Test, values: Sequence[Any]) -> tuple[dict[str, float], str]:
    """Return the test's measures, and the reason if it failed."""
    found: dict[str, float] = {}
    try:
        for measure, value in test(*values):
            found[measure] = float(value)
    except (Exception, SystemExit) as error:  # an open gap, or a mistake in a student's function
        lines = str(error).splitlines() or [""]
        return found, f"{type(error).__name__}: {lines[0][:100]}".removesuffix(": ")
    return found, ""


def worst_values(everyone: list[dict[str, float]]) -> dict[str, float]:
    """Return the largest value of each measure that all ranks have. NaN is the largest of all."""
    names = [name for name in everyone[0] if all(name in values for values in everyone)]
    return {name: max((v[name] for v in everyone), key=lambda x: (x != x, x)) for name in names}


def record(run: Any, measure: str, value: float | None, reason: str) -> None:
    if value is not None and math.isfinite(value):
        run.measure(measure, value)
    else:
        run.measure(measure, None, failed=reason or f"the result is {value}")


def give_up(run: Any, name: str, measures: list[str], patience: float) -> None:
    """Record that a test does not end, and end this process, whose main thread waits."""
    reason = f"{name} did not end within {patience:.0f} s: a rank waits for another one"
    if run.rank == 0:
        print(f"{name}: FAILED: {reason}", flush=True)
    for measure in measures:
        record(run, measure, None, reason)
    run.end()
    time.sleep(1)  # launchers end all ranks when one of them fails, and the others write as well
    os._exit(1)
