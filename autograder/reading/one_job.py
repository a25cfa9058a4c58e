"""Combine the lines in one job's files into runs, each with its end and its problems."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.codes import Outcome
from autograder.notes import Note
from autograder.reading import ends, lines, run_drafts
from autograder.reading.ends import EndLine
from autograder.reading.failed_ranks import failed_ranks
from autograder.reading.formats import record
from autograder.reading.lane_runs import checked
from autograder.reading.line_facts import RUN_NUMBERS, Reader, make_problem
from autograder.reading.printed_numbers import placed
from autograder.reading.run_drafts import RunDraft, ScannedFile, drafts_of
from autograder.records import Number, Run, Where
from autograder.submissions import kinds

MOST_PROBLEMS = 100  # per run; more do not help anybody
APART = 1.1  # totals of one run from several ranks differ by less than this factor


def read_job(
    files: list[ScannedFile], launches: record.Launches, readers: Sequence[Reader]
) -> list[Run]:
    """Return the runs in all files of one job."""
    drafts = drafts_of(files, launches, readers)
    for file in files if drafts else ():
        here = [draft for draft in drafts if draft.file is file] or drafts[-1:]
        attach_facts(file, here)
        for end in file.ends:
            draft = here[last_begun(here, end.where.line)]
            if draft.file is not file or may_end(draft, end):
                draft.ends.append(end)
        for problem in file.problems:
            here[last_begun(here, problem.where[0].line)].problems.append(problem)
    job = job_of(files)
    for draft in drafts:
        if draft.recorded and not any(tells_of_recorded(draft, end) for end in draft.ends):
            draft.ends.append(draft.recorded)
    runs = [finish(draft, files, job) for draft in drafts]
    if runs and runs[-1].outcome == Outcome.FAILED:
        tails = [lines.clean(raw) for file in files for raw in file.tail.split(b"\n")]
        runs[-1] = replace(runs[-1], failed_ranks=failed_ranks(tails))
    return runs


def last_begun(drafts: list[RunDraft], line: int) -> int:
    """Return the position of the last run that begins before a line, or else of the first run."""
    return max(bisect_right(drafts, line, key=lambda draft: draft.first) - 1, 0)


def attach_facts(file: ScannedFile, here: list[RunDraft]) -> None:
    """Assign each fact about a whole run to the run that precedes it.

    The number of workers is printed before a run, so between two runs it belongs to the second.
    """
    for line, facts in file.facts:
        place = last_begun(here, line)
        ahead = line > here[place].last and place + 1 < len(here) and facts.workers is not None
        here[place + ahead].facts.append((file, line, facts))


def may_end(draft: RunDraft, end: EndLine) -> bool:
    """Return whether a line may report the end of the run that begins before it.

    The scheduler prints its message half a minute before it kills the processes, so the message may
    appear in the middle of the last epoch.
    """
    if end.where.line >= draft.last or tells_of_recorded(draft, end):
        return True
    by_scheduler = end.kind in ("timeout", "cancelled") and not end.raised
    return by_scheduler and not draft.whole and draft.begun < end.where.line


def tells_of_recorded(draft: RunDraft, end: EndLine) -> bool:
    """Return whether this traceback ends in the exception that the record only names."""
    name = ends.exception_name
    return draft.recorded is not None and name(end.text) == name(draft.recorded.text)


def job_of(files: list[ScannedFile]) -> str | None:
    """Return the job id in the outputs, or else the id in the file names.

    If the ids differ, the job is unknown.
    """
    printed = {facts.job_id for file in files for _, facts in file.facts if facts.job_id}
    named = {job for file in files if (job := kinds.output_name(file.name).job_id)}
    ids = list(printed or named)
    return ids[0] if len(ids) == 1 else None


def finish(draft: RunDraft, files: list[ScannedFile], job: str | None) -> Run:
    run, whole = draft.run, draft.whole
    places, problems = dict(run.places), [*run.problems, *draft.problems]
    counts = {facts.workers for _, _, facts in draft.facts} - {None}  # of workers, as printed
    outcome, reasons = run.outcome, draft.ends
    if run.format != record.FORMAT:
        run = with_numbers(draft, problems)
        if not whole and (place := run_drafts.training_end(draft)):
            whole, places["outcome"] = True, place
            if run.unfinished is not None:
                run = replace(run, epochs=(*run.epochs, run.unfinished), unfinished=None)
    if run.unfinished is not None and whole is None:
        run = replace(run, sparse=True)
    if not draft.certain and outcome != Outcome.EMPTY:
        outcome, reasons = run_drafts.outcome_of(draft, files, whole)
    problems += [end.as_problem() for end in reasons]
    problems.sort(key=lambda problem: (problem.where[0].file, problem.where[0].line))
    if outcome != Outcome.COMPLETED:
        places.pop("outcome", None)
    if outcome not in (Outcome.COMPLETED, Outcome.UNKNOWN) and reasons:
        outcomes = {ends.CAUSES[end.kind]: end.where for end in reversed(reasons)}
        places["outcome"] = outcomes.get(outcome, reasons[-1].where)
    return replace(
        run,
        places=places,
        files=tuple(dict.fromkeys((*run.files, *(file.name for file in files)))),
        outcome=outcome,
        workers=run.workers or (counts.pop() if len(counts) == 1 else None),
        job_id=run.job_id or job,
        problems=tuple(dict.fromkeys(problems))[:MOST_PROBLEMS],
    )


def with_numbers(draft: RunDraft, problems: list[Note]) -> Run:
    """Return the run with the numbers that lines about the whole run state; the last ones count.

    Add a problem for numbers that contradict each other, and leave them out.
    """
    numbers: dict[str, list[Number]] = {}
    for file, line, facts in draft.facts:
        for name, number in facts.numbers.items():
            if number is not None:
                numbers.setdefault(name, []).append(placed(number, Where(file.name, line)))
    last: dict[str, Any] = {
        name.removeprefix("run_"): checked(name, numbers[name][-1], problems)
        for name in RUN_NUMBERS
        if name in numbers
    }
    run = replace(draft.run, **last)
    totals = [number.value for number in numbers.get("total_seconds", ())]
    seconds = [epoch.seconds.value for epoch in run.epochs if epoch.seconds is not None]
    if not totals:
        return run
    if max(totals) > APART * min(totals):
        reason = "the printed run times differ, so they are the times of parts of the run"
    elif sum(seconds) > APART * totals[-1] + 1:
        reason = f"{totals[-1]:g} s are printed for the run, but {sum(seconds):g} s for its epochs"
        run = replace(run, epochs=tuple(replace(e, seconds=None) for e in run.epochs))
    else:
        return run
    where = numbers["total_seconds"][-1].where or Where("", 0)
    problems.append(make_problem(where, "seconds", reason))
    return replace(run, total_seconds=None)
