"""Run planted mistakes for real and keep what they print: those that no longer fit, or all.

    python -m tests.lessons.planted [--all] [--list] [LESSON]…

One after the other, as some of them are timed. It can be stopped and started again.
"""

import argparse
import sys
import time

from tests.lessons.planted import kept
from tests.lessons.planted.judged import unexpected
from tests.lessons.planted.lessons import LESSONS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help=f"of {' '.join(LESSONS)}")
    parser.add_argument("--all", action="store_true", help="also those whose output still fits")
    parser.add_argument("--list", action="store_true", help="only say what no longer fits")
    args = parser.parse_args()
    if unknown := set(args.lessons) - LESSONS.keys():
        parser.error(f"no planted mistakes for {' '.join(sorted(unknown))}")

    failed = 0
    for number in args.lessons or LESSONS:
        lesson = LESSONS[number]
        jobs = list(lesson.jobs) if args.all else kept.stale(lesson)
        print(f"{number}: {len(jobs)} of {len(lesson.jobs)} outputs to make", flush=True)
        if jobs and not args.list:
            failed += remake(number, jobs) or misjudged(number)
    return 1 if failed else 0


def remake(number: str, jobs: list[str]) -> int:
    """How many of the jobs could not be run."""
    lesson, failed, since = LESSONS[number], 0, time.monotonic()
    for batch in kept.run(lesson, jobs):
        for job, printed in batch.items():
            if isinstance(printed, Exception):
                failed += 1
                print(f"  {job}: NOT RUN: {printed}", flush=True)
            else:
                print(f"  {job}: {kept.keep(lesson, job, printed):,} bytes", flush=True)
        print(f"  … {time.monotonic() - since:.0f} s", flush=True)
    clear(number)
    return failed


def misjudged(number: str) -> int:
    """How many mistakes the grader judges otherwise than the table says: see why, or try again.

    What is timed (04) wants a machine that has nothing else to do.
    """
    found = {mistake: unexpected(number, mistake) for mistake in LESSONS[number].mistakes}
    for mistake, checks in found.items():
        for check, said in checks.items():
            print(f"  {mistake}: NOT AS EXPECTED: {check}: {said}", flush=True)
    return sum(map(bool, found.values()))


def clear(number: str) -> None:
    """Outputs of jobs that the table no longer has."""
    lesson = LESSONS[number]
    known = {kept.file_of(lesson, job, s) for job in lesson.jobs for s in ("out", "err")}
    for file in (kept.KEPT / number).glob("*.txt"):
        if file not in known:
            file.unlink()


if __name__ == "__main__":
    sys.exit(main())
