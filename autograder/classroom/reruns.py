"""Match a submission's runs with the instructor's reruns, and judge the reruns by its rubric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autograder.codes import FindingCode, ReasonCode
from autograder.evidence.findings import finding
from autograder.evidence.reruns import Again, on_same_machine
from autograder.judging.conditions import judge_condition, partial_from
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import is_asked, uncalibrated
from autograder.judging.runs_that_count import finished, run_that_counts
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import metric_named
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.settings.reruns import Rerun
from autograder.settings.rubric_schema import Condition, own_readers
from autograder.verdict import NOT_MEASURED, Finding, Part

# The points of a timed condition may differ by this much between two honest runs.
LESS = 0.1
# A rerun is started by the instructor's own job file, on one node.
OF_THE_JOB = ("launched", "job_known", "error_file_separate", "hosts", "local_ranks")


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


def compared(
    hand_in: HandIn, counted: Mapping[str, Run], found: Mapping[str, Again]
) -> dict[str, Again]:
    """Return the reruns, each with its failed conditions and with the checks that were skipped.

    `counted`: the runs that count, by name in the rubric. `found`: their reruns, by launch.
    """
    again = {name: found[run.launch] for name, run in counted.items() if run.launch in found}
    runs = {one.run.id: one.run for one in again.values() if one.run is not None}
    repeated = replace(hand_in, runs=tuple(runs.values()))
    missed: dict[str, list[Finding]] = {launch: [] for launch in found}
    not_compared: dict[str, None] = {}
    for check_id, condition, names in conditions(hand_in, counted):
        repeats = {name: again[name] for name in names if name in again}
        comparable = len(repeats) == len(names) and is_comparable(hand_in, condition, repeats)
        worse = fewer_points(hand_in, repeated, condition) if comparable else None
        if not comparable or (worse and is_unmeasured(condition, worse[1])):
            not_compared[check_id] = None
        elif worse:
            recorded, part = worse
            code, expected = FindingCode.RERUN_FEWER_POINTS, f"{recorded.found} in the record"
            about = finding(code, expected, part.found, recorded.where, name=check_id)
            missed[counted[names[0]].launch].append(about)
    return {
        launch: replace(one, missed=tuple(missed[launch]), not_compared=tuple(not_compared))
        for launch, one in found.items()
    }


def conditions(
    hand_in: HandIn, counted: Mapping[str, Run]
) -> Iterator[tuple[str, Condition, list[str]]]:
    """Yield each condition to compare, with its check and the runs that count for it."""
    for check in hand_in.rubric.checks:
        for one in check.require if is_asked(hand_in, check) else ():
            others = (one.base, one.minus, one.over, one.threshold.of)
            names = sorted({*one.of, *filter(None, others)} & counted.keys())
            asked = one.only in (None, hand_in.profile) and one.metric not in OF_THE_JOB
            if names and asked and not uncalibrated(hand_in, one):
                yield check.id, one, names


def is_comparable(hand_in: HandIn, condition: Condition, again: Mapping[str, Again]) -> bool:
    """Return whether a condition's value can be compared with that of the reruns.

    Timings can be compared only on the same kind of machine, without other load. A metric over all
    runs with one name needs every one of them, but a rerun repeats only the run that counts.
    """
    is_timed, all_runs = partial_from(condition), metric_named(condition.metric).all_runs
    for name, one in again.items():
        runs = finished(hand_in, name)
        if one.run is None or (all_runs and len(runs) != 1):
            return False
        undisturbed = one.job.undisturbed and on_same_machine(runs[-1], one.run)
        if is_timed and not all_runs and not undisturbed:
            return False
    return True


def fewer_points(
    hand_in: HandIn, repeated: HandIn, condition: Condition
) -> tuple[Part, Part] | None:
    """Return the recorded result and the rerun's result, if the rerun earns fewer points."""
    before, after = (judge_condition(one, condition) for one in (hand_in, repeated))
    pairs = zip(before, after, strict=False)
    return next((pair for pair in pairs if pair[1].credit < pair[0].credit - LESS), None)


def is_unmeasured(condition: Condition, again: Part) -> bool:
    """Return whether there is an innocent reason why a rerun did not measure this condition.

    The machine may have been busy. A program may also compare its result with that of an earlier
    job, which the rerun does not have. The rounds of a speed job depend on nothing outside the job.
    """
    if again.code == ReasonCode.TOO_NOISY:
        return True
    return again.status == NOT_MEASURED and not condition.metric.startswith("rounds")
