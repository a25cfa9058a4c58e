"""The runs of a hand-in beside those of the instructor's rerun of it."""

from collections.abc import Mapping
from dataclasses import replace

from autograder.evidence.reruns import Again
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import run_that_counts
from autograder.measuring.interval import NotMeasured
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.settings.reruns import Rerun
from autograder.settings.rubric_schema import own_readers


def runs_again(
    hand_in: HandIn, counted: Mapping[str, Run], rerun: Rerun | None
) -> dict[str, Again]:
    """By launch, of the runs that count: what goes by the same name in the rerun. A run that was
    handed in after the rerun has none."""
    if rerun is None:
        return {}
    readers = own_readers(hand_in.rubric)
    printed = {
        job: read_files([rerun.outputs / f for f in job.files], readers) for job in rerun.jobs
    }
    found: dict[str, Again] = {}
    for name, run in counted.items():
        job = next((job for job in rerun.jobs if run.launch and run.launch in job.launches), None)
        if job is None or run.launch in found:
            continue
        of_job = [again for again in printed[job] if again.job_id == job.job_id]
        try:
            again = Again(job, run_that_counts(replace(hand_in, runs=of_job), name))
        except NotMeasured as missing:
            again = Again(job, None, str(missing))
        found[run.launch] = again
    return found
