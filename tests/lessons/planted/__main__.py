"""Run the planted mistakes for real and keep what they print.

    python -m tests.lessons.planted [--stale] [--list] [LESSON]…

One after the other, because some of them are timed. It can be stopped and started again.
"""

import argparse
import sys
import time

from tests.lessons.planted import kept
from tests.lessons.planted.judged import unexpected
from tests.lessons.planted.plants import LESSONS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help=f"of {' '.join(LESSONS)}")
    parser.add_argument("--stale", action="store_true", help="only jobs of programs that changed")
    parser.add_argument("--list", action="store_true", help="only count the jobs")
    args = parser.parse_args()
    if unknown := set(args.lessons) - LESSONS.keys():
        parser.error(f"no planted mistakes for {' '.join(sorted(unknown))}")

    failed = 0
    for number in args.lessons or LESSONS:
        lesson = LESSONS[number]
        jobs = kept.stale(lesson) if args.stale else list(lesson.jobs)
        print(f"{number}: {len(jobs)} of {len(lesson.jobs)} outputs to make", flush=True)
        if jobs and not args.list:
            failed += remake(number, jobs) or misjudged(number)
    return 1 if failed else 0


def remake(number: str, jobs: list[str]) -> int:
    """Run these jobs; return how many of them could not be run."""
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
    """Return how many mistakes the grader judges differently from the table.

    Lesson 04 is timed and needs an idle machine.
    """
    found = {mistake: unexpected(number, mistake) for mistake in ("", *LESSONS[number].plants)}
    for mistake, checks in found.items():
        for check, said in checks.items():
            print(f"  {mistake}: NOT AS EXPECTED: {check}: {said}", flush=True)
    return sum(map(bool, found.values()))


def clear(number: str) -> None:
    """Delete the outputs of jobs that are no longer in the table."""
    lesson = LESSONS[number]
    known = {kept.file_of(lesson, job, s) for job in lesson.jobs for s in ("out", "err")}
    for file in (kept.KEPT / number).glob("*.txt"):
        if file not in known:
            file.unlink()


if __name__ == "__main__":
    sys.exit(main())
