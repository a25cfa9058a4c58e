"""Select the runs that a rubric names, the run that counts, and the runs judged together."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from autograder.codes import FindingCode, Outcome, ReasonCode
from autograder.judging.hand_in import HandIn, by_time, plain_outputs, unprinted_facts
from autograder.measuring.interval import Measure, NotMeasured, attempt, measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.measuring.record_facts import ERROR_FILE
from autograder.notes import Note
from autograder.reading.ends import ECHO
from autograder.reading.files import HAND_IN_FILE, problems_of
from autograder.records import Run, Where
from autograder.safe_text import printable, shortened
from autograder.settings.rubric_schema import RubricCheck
from autograder.submissions.doubts import file_of
from autograder.submissions.kinds import is_answers

SOURCE_PLACE = re.compile(r"\[/\S{1,200}:\d{1,6}\] ")
WORDS = re.compile(r"[_.\d]+")  # separators of words in a file name


def names_of(hand_in: HandIn) -> Callable[[Run], Sequence[str]]:
    """Return a function that maps a run to the names it has in the rubric."""
    names: dict[int, list[str]] = {}
    for name, runs in hand_in.runs_by_name.items():
        for run in runs:
            names.setdefault(run.id, []).append(name)
    return lambda run: names.get(run.id, ())


def program_of(run: Run) -> str:
    """Return the program and model that are named in the record.

    Neither depends on the size of the run.
    """
    return printable(
        ", ".join(filter(None, (run.header.source, run.header.model))) or run.format, 80
    )


def run_that_counts(hand_in: HandIn, name: str) -> Run:
    """Return the latest finished run of the required size.

    Raise NotMeasured with the reason if there is none.
    """
    if name not in hand_in.counted:
        hand_in.counted[name] = attempt(latest_run, hand_in, name)
    found = hand_in.counted[name]
    if isinstance(found, NotMeasured):
        raise found
    return found


def latest_run(hand_in: HandIn, name: str) -> Run:
    candidates, done = hand_in.runs_by_name[name], finished(hand_in, name)
    if not done:
        raise did_not_finish(name, candidates[-1]) if candidates else no_run(hand_in, name)
    asked = [run for run in done if size_shortfall(hand_in, name, run) is None] or done
    choice = hand_in.rubric.runs[name]
    for metric, pick in ((choice.smallest, min), (choice.largest, max)):
        sized = by_value(metric, asked) if metric else []
        if sized:
            best = pick(value for value, _ in sized)
            asked = [run for value, run in sized if value == best]
    return asked[-1]


def no_run(hand_in: HandIn, name: str) -> NotMeasured:
    """Return the reason why there is no run with this name.

    No run was submitted, or it is in an archive that could not be opened. An output does not show
    all facts about the run, has an unknown format, or was copied from a terminal window. Or the job
    ended before its program began to record: then only the file name identifies the job.
    """
    choice = hand_in.rubric.runs[name]
    unclear = plain_outputs(hand_in.runs, choice)  # with all facts, one of these would be the run
    if unclear:
        facts = ", ".join(dict.fromkeys(f for run in unclear for f in unprinted_facts(run, choice)))
        files = [file for run in unclear[:3] for file in run.files[:1]]
        return NotMeasured(
            f"whether {shortened(', '.join(files))} is a run of `{name}`: the output does not "
            f"report {facts}",
            "let the program print its workers or write a run record",
            [Where(file, 1) for file in files],
            ReasonCode.RUN_UNCLEAR,
        )
    recorded_nothing = [run for run in hand_in.runs if not run.has_header and not run.epochs]
    for run in sorted(recorded_nothing, key=by_time, reverse=True):
        cause = cause_of(run)
        if cause and is_job_of(run, hand_in, name):
            reason = f"no run of `{name}`: its job ended before the program began to record; "
            reason += f"{run.outcome} ({cause.title}: {problem_text(cause)})"
            return NotMeasured(reason, last_lines(run), cause.where, ReasonCode.NO_RUN)
    reason, code = f"no run of `{name}` was submitted", ReasonCode.NO_RUN
    hint = "submit the job to the scheduler, and later its output to your instructor"
    strange = [run.files[0] for run in hand_in.runs if is_strange(run, hand_in)]
    copies = problems_of(hand_in.runs, FindingCode.TERMINAL_COPY)
    unseen = [one for one in hand_in.unseen if not is_answers(PurePath(file_of(one)).name)]
    if copies:
        file = copies[0].where[0].file
        reason = f"no run of `{name}` can be read; {file} is a copy from a terminal"
        hint = HAND_IN_FILE
    elif unseen:
        reason = f"no readable run of `{name}` was submitted: {unseen[0].actual}"
        hint = f"{unseen[0].advice}; if this run is not in it, {hint}"
    elif strange:
        reason = f"no run of `{name}` was recognised in {shortened(', '.join(strange[:3]))}"
        hint, code = "let the program write a run record", ReasonCode.RUN_UNCLEAR
    return NotMeasured(reason, hint, [Where(file, 1) for file in strange[:3]], code)


def is_strange(run: Run, hand_in: HandIn) -> bool:
    """Return whether an output has no record and is no run of the rubric's, but may be one."""
    ended = run.outcome in (Outcome.COMPLETED, Outcome.UNKNOWN)
    choices = hand_in.rubric.runs.values()
    return ended and not (run.has_header or any(plain_outputs([run], one) for one in choices))


def is_job_of(run: Run, hand_in: HandIn, name: str) -> bool:
    """Return whether an output is named after these runs' job, such as 10_multiworker_7.out."""
    source = str(hand_in.rubric.runs[name].where.get("source"))
    called = {name, source, source.partition("-")[0]}
    return any(called & set(WORDS.split(PurePath(file).name)) for file in run.files)


def cause_of(run: Run) -> Note | None:
    """Return the problem that ended a run without a record, according to its output."""
    if run.outcome in (Outcome.COMPLETED, Outcome.UNKNOWN):
        return None
    return problem_to_read(replace(run, problems=tuple(p for p in run.problems if p.actual)))


def did_not_finish(name: str, run: Run) -> NotMeasured:
    """Return the error for a run that ended early, with the problem shown in its output."""
    problem = problem_to_read(run)
    reason, try_ = f"the run of `{name}` did not finish: {how_it_ended(run)}", last_lines(run)
    if run.outcome == Outcome.INCOMPLETE:
        reason += ", the output stops before the end of the run"
        try_ = "submit the whole output; if the job itself ended there, " + try_
    elif run.outcome == Outcome.UNKNOWN and run.epochs:
        reason += ", nothing in its output shows that this epoch was the last"
        try_ = "also submit the job's error output, or let the program print when it is done"
    elif run.outcome == Outcome.TIMEOUT:
        try_ = f"ask for more time (`--time`), or find out which rank waited for which: {try_}"
    where = problem.where if problem else [Where(file, 1) for file in run.files[:1]]
    return NotMeasured(reason, try_, where, ReasonCode.RUN_UNFINISHED)


def problem_to_read(run: Run) -> Note | None:
    """Return the problem that a student should read first.

    For a stall, an exceeded limit or a lack of memory, this is the line that reports it. The
    launcher reports killed processes only later. Otherwise it is the last problem. An exception
    takes precedence over the messages that it causes on other ranks.
    """
    if run.outcome != Outcome.FAILED:
        where = run.places.get("outcome")
        reported = [p for p in run.problems if p.where == (where,)] or run.problems[-1:]
        return reported[0] if reported else None
    raised = [p for p in run.problems if p.code == FindingCode.EXCEPTION]
    first = [p for p in raised if not ECHO.search(p.actual)]
    return next(reversed(first or raised or run.problems), None)


def how_it_ended(run: Run) -> str:
    problem = problem_to_read(run)
    if not problem:
        return run.outcome
    # The page already lists damaged lines of the record. Other problems give the cause.
    text = "" if problem.code == FindingCode.BAD_LINE else problem_text(problem)
    return f"{run.outcome} ({problem.title}{': ' if text else ''}{text})"


def problem_text(problem: Note) -> str:
    """Return the problem's text without the place in a library's C++ code."""
    return shortened(SOURCE_PLACE.sub("", problem.actual), 160)


def by_value(metric: str, runs: Sequence[Run]) -> list[tuple[float, Run]]:
    """Return the runs that can be measured, each with its value."""
    function = metric_named(metric).function
    values = [(measured_or_none(function, run), run) for run in runs]
    return [(value.value, run) for value, run in values if isinstance(value, Measure)]


def last_lines(run: Run) -> str:
    """Return advice to read the last lines of the error file, or of the output if there is none."""
    errors = [file for file in run.files if ERROR_FILE.match(file)]
    return "look at the last lines of " + (shortened(errors[0]) if errors else "the output")


def size_shortfall(hand_in: HandIn, name: str, run: Run) -> tuple[float, float] | None:
    """Return (samples used, samples required) if a run trained on fewer than required."""
    samples = hand_in.rubric.runs[name].train_samples or hand_in.rubric.train_samples
    required = samples.fixed(hand_in.profile) if samples else None
    used = run.header.dataset.train_samples
    if used is None or not isinstance(required, int | float) or used >= required:
        return None
    return used, required


def finished(hand_in: HandIn, name: str) -> list[Run]:
    """Return the finished runs with this name, oldest first."""
    return [run for run in hand_in.runs_by_name[name] if run.outcome == Outcome.COMPLETED]


def larger_unfinished(hand_in: HandIn, name: str) -> Run | None:
    """Return the latest unfinished run that is larger than all finished ones."""
    largest = hand_in.rubric.runs[name].largest
    if largest is None:
        return None
    sized = by_value(largest, hand_in.runs_by_name[name])
    most = max((size for size, run in sized if run.outcome == Outcome.COMPLETED), default=math.inf)
    larger = [run for size, run in sized if run.outcome != Outcome.COMPLETED and size > most]
    return larger[-1] if larger else None


def runs_compared(hand_in: HandIn) -> list[Run]:
    """Return all finished runs that a check judges together."""
    names = {name for check in hand_in.rubric.checks for name in names_compared(check)}
    return [run for name in sorted(names) for run in finished(hand_in, name)]


def names_compared(check: RubricCheck) -> Iterator[str]:
    for condition in check.require:
        if metric_named(condition.metric).all_runs:
            yield from condition.of
