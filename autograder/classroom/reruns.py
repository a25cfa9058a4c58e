"""Match a submission's runs with the instructor's reruns, and judge the reruns by its rubric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autograder.codes import FindingCode, ReasonCode
from autograder.evidence.findings import finding
from autograder.evidence.reruns import MACHINE, Again
from autograder.judging.conditions import judge_condition, partial_from
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import is_asked, uncalibrated
from autograder.judging.runs_that_count import finished, run_that_counts
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import metric_named
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.settings.reruns import Rerun
from autograder.settings.rubric_schema import Condition, RubricCheck, own_readers
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
    runs = {id(one.run): one.run for one in again.values() if one.run is not None}
    repeated = replace(hand_in, runs=tuple(runs.values()))
    missed: dict[str, list[Finding]] = {}
    left_out = []
    for check in hand_in.rubric.checks:
        if not is_asked(hand_in, check):
            continue
        for condition in conditions_of(hand_in, check):
            names = names_in(condition) & counted.keys()
            if not names:
                continue
            repeats = {name: again[name] for name in names if name in again}
            comparable = repeats.keys() == names and is_comparable(hand_in, condition, repeats)
            worse = fewer_points(hand_in, repeated, condition) if comparable else None
            if not comparable or (worse and is_unmeasured(condition, worse[1])):
                left_out.append(check.id)
            elif worse:
                launch = counted[sorted(names)[0]].launch
                missed.setdefault(launch, []).append(as_finding(check, *worse))
    not_compared = tuple(dict.fromkeys(left_out))
    return {
        launch: replace(one, missed=tuple(missed.get(launch, ())), not_compared=not_compared)
        for launch, one in found.items()
    }


def conditions_of(hand_in: HandIn, check: RubricCheck) -> Iterator[Condition]:
    for condition in check.require:
        asked = condition.only in (None, hand_in.profile)
        if asked and condition.metric not in OF_THE_JOB and not uncalibrated(hand_in, condition):
            yield condition


def names_in(condition: Condition) -> set[str]:
    others = (condition.base, condition.minus, condition.over, condition.threshold.of)
    return {*condition.of, *filter(None, others)}


def is_comparable(hand_in: HandIn, condition: Condition, again: Mapping[str, Again]) -> bool:
    """Return whether a condition's value can be compared with that of the reruns.

    Timings can be compared only on the same kind of machine, without other load. A metric over all
    runs with one name needs every one of them, but a rerun repeats only the run that counts.
    """
    if any(one.run is None for one in again.values()):
        return False
    if metric_named(condition.metric).all_runs:
        return all(len(finished(hand_in, name)) == 1 for name in again)
    return not partial_from(condition) or all(
        one.job.undisturbed and on_same_machine(hand_in, name, one) for name, one in again.items()
    )


def on_same_machine(hand_in: HandIn, name: str, again: Again) -> bool:
    run = finished(hand_in, name)[-1]
    return again.run is not None and all(
        run.header.get(fact) == again.run.header.get(fact) for fact in MACHINE
    )


def fewer_points(
    hand_in: HandIn, repeated: HandIn, condition: Condition
) -> tuple[Part, Part] | None:
    """Return the recorded result and the rerun's result, if the rerun earns fewer points."""
    before, after = (judge_condition(one, condition) for one in (hand_in, repeated))
    for recorded, again in zip(before, after, strict=False):
        if again.credit < recorded.credit - LESS:
            return recorded, again
    return None


def is_unmeasured(condition: Condition, again: Part) -> bool:
    """Return whether there is an innocent reason why a rerun did not measure this condition.

    The machine may have been busy. A program may also compare its result with that of an earlier
    job, which the rerun does not have. The rounds of a speed job depend on nothing outside the job.
    """
    if again.code == ReasonCode.TOO_NOISY:
        return True
    return again.status == NOT_MEASURED and not condition.metric.startswith("rounds")


def as_finding(check: RubricCheck, recorded: Part, again: Part) -> Finding:
    expected = f"{recorded.found} in the record"
    return finding(
        FindingCode.RERUN_FEWER_POINTS, expected, again.found, recorded.where, name=check.id
    )
