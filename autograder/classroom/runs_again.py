"""Match the runs of a submission with the instructor's reruns of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.classroom.checks_again import compared
from autograder.evidence.reruns import Again
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import run_that_counts
from autograder.measuring.interval import NotMeasured
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.settings.reruns import Rerun
from autograder.settings.rubric_schema import own_readers


def runs_again(
    hand_in: HandIn, counted: Mapping[str, Run], reruns: Sequence[Rerun]
) -> dict[str, Again]:
    """Return the rerun that matches each counted run, keyed by launch.

    The matching rerun is the run that counts under the same name in the rerun job. If several
    reruns match, the first one is used. A run that was submitted after the reruns has none.
    """
    readers = own_readers(hand_in.rubric)
    printed = [
        (job, read_files([rerun.outputs / f for f in job.files], readers))
        for rerun in reruns
        for job in rerun.jobs
    ]
    found: dict[str, Again] = {}
    for name, run in counted.items():
        of_run = (one for one in printed if run.launch and run.launch in one[0].launches)
        job, there = next(of_run, (None, []))
        if job is None or run.launch in found:
            continue
        of_job = [again for again in there if again.job_id == job.job_id]
        try:
            again = Again(job, run_that_counts(replace(hand_in, runs=of_job), name))
        except NotMeasured as missing:
            again = Again(job, None, str(missing))
        found[run.launch] = again
    return compared(hand_in, counted, found) if found else {}
