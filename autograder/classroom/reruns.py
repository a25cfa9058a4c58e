"""Grade the outputs of the instructor's rerun like a submission, and compare the points."""

from collections.abc import Sequence
from dataclasses import replace

from autograder.codes import EvidenceLevel, FindingCode
from autograder.evidence.examine import Examined
from autograder.judging.conditions import partial_from
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge_check
from autograder.judging.runs_that_count import finished, is_strange
from autograder.measuring.metrics import metric_named
from autograder.notes import make_note
from autograder.reading.files import read_files
from autograder.settings.reruns import Rerun
from autograder.settings.rubric_schema import own_readers
from autograder.verdict import NOT_MEASURED, Grade, Repeated

LESS = 0.1  # of a check's points, by which two honest runs may differ
# A rerun is started by the instructor's own job file, on one node.
OF_THE_JOB = ("launched", "job_known", "error_file_separate", "hosts", "local_ranks")
UNTIMED = ("test_accuracy", "loss_last", "steps")


def repeated(hand_in: HandIn, judged: Grade, reruns: Sequence[Rerun]) -> tuple[Repeated, ...]:
    """Return the points of each check on runs, in the submission and in the rerun.

    A load can make a rerun slow. Points that are lost for speed alone are therefore not compared.
    """
    jobs = [(rerun, job) for rerun in reruns for job in rerun.jobs]
    readers, launches = own_readers(hand_in.rubric), {x for _, job in jobs for x in job.launches}
    # A stored output may have runs of several jobs.
    stored = launches | {run.launch for run in hand_in.runs if run.launch}
    runs = [
        run
        for rerun, job in jobs
        for run in read_files([rerun.outputs / file for file in job.files], readers)
        if run.job_id == job.job_id and run.launch not in stored
    ]
    runs = [run for run in runs if not is_strange(run, hand_in)]  # it printed what nobody reads
    checks = {check.id: check for check in hand_in.rubric.checks}
    pairs = []
    for result in judged.checks if jobs else ():
        check = checks[result.id]
        if require := [c for c in check.conditions(hand_in.profile) if c.metric not in OF_THE_JOB]:
            # All conditions with partial points but these are about speed.
            sure = [c for c in require if c.metric in UNTIMED or partial_from(c) is None]
            again, untimed = (
                judge_check(replace(hand_in, runs=runs), check.model_copy(update={"require": some}))
                for some in (require, sure)
            )
            compared = again.status != NOT_MEASURED and all(
                is_repeated(hand_in, condition.metric, name, launches)
                for condition in require
                for name in {*condition.of, condition.base, condition.minus, condition.over}
            )
            pair = Repeated(check.id, check.points, result.score, again.score)
            is_slower = is_fewer(pair) and not is_fewer(replace(pair, rerun=untimed.score))
            pairs.append(pair if compared and not is_slower else replace(pair, rerun=None))
    return tuple(pairs)


def is_repeated(hand_in: HandIn, metric: str, name: str | None, launches: set[str]) -> bool:
    """Return whether the run that counts was run again.

    A metric over all runs with one name needs every one of them, and a rerun repeats only one.
    """
    mine = finished(hand_in, name) if name else []
    needs_all = metric_named(metric).all_runs and len(mine) > 1
    return not mine or (mine[-1].launch in launches and not needs_all)


def with_rerun(seen: Examined, checks: Sequence[Repeated], accounting: bool) -> Examined:
    """Return the evidence with that of the rerun.

    Reproduced means that each check that gave points was compared, and gave as many again.
    """
    if fewer := [pair for pair in checks if is_fewer(pair)]:
        expected = ", ".join(f"{pair.check} {pair.submitted:g}" for pair in fewer)
        actual = ", ".join(f"{pair.check} {pair.rerun:g}" for pair in fewer)
        advice = "submit the program that made the output, with all modules beside it"
        about = make_note(FindingCode.RERUN_FEWER_POINTS, expected, actual, (), advice)
        return replace(seen, findings=(*seen.findings, about))
    earned = [pair for pair in checks if pair.submitted > 0]
    if skipped := [pair.check for pair in earned if pair.rerun is None]:
        return replace(seen, reason=f"{seen.reason}; not compared: {', '.join(skipped)}")
    confirmed = seen.tier == EvidenceLevel.CONFIRMED
    consistent = seen.tier == EvidenceLevel.SELF_CONSISTENT and not accounting
    doubtful = any(note.doubtful for note in seen.findings)
    if not earned or doubtful or not (confirmed or consistent):
        return seen
    reason = "the instructor's rerun earned the same points"
    reason += " and the scheduler's accounting agrees" if confirmed else ""
    return replace(seen, tier=EvidenceLevel.REPRODUCED, reason=reason)


def is_fewer(check: Repeated) -> bool:
    return check.rerun is not None and check.rerun < check.submitted - LESS * check.points
