"""Combine the lines in one job's files into runs, each with its end and its problems."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.codes import Outcome
from autograder.reading import outcome
from autograder.reading.ends.run_drafts import RunDraft, drafts_of
from autograder.reading.ends.run_ends import final_ends, nothing_else_ended_it, with_end
from autograder.reading.formats import mllog, record
from autograder.reading.formats.reader import Reader
from autograder.reading.lanes import add_to_run
from autograder.reading.lanes_to_runs import checked
from autograder.reading.line_facts import RUN_NUMBERS, RunFacts
from autograder.reading.outcome import EndLine
from autograder.reading.printed_numbers import placed
from autograder.reading.scanned_file import ScannedFile
from autograder.reading.settle import agreed
from autograder.records import Run, Where
from autograder.submissions import output_names

MOST_PROBLEMS = 100  # per run; more do not help anybody


def read_job(
    files: list[ScannedFile], launches: record.Launches, formats: Sequence[Reader]
) -> list[Run]:
    """Return the runs in all files of one job."""
    drafts = drafts_of(files, launches, formats)
    for file in files if drafts else ():
        here = [draft for draft in drafts if draft.file is file] or drafts[-1:]
        attach_facts(file, here)
        for end in file.ends:
            draft = here[last_begun(here, end.where.line)]
            if draft.file is not file or may_end(draft, end):
                draft.ends.append(end)
        for problem in file.problems:
            here[last_begun(here, problem.where.line)].problems.append(problem)
    job, job_place = job_of(files)
    for draft in drafts:
        if draft.recorded and not any(tells_of_recorded(draft, end) for end in draft.ends):
            draft.ends.append(draft.recorded)
        if job_place is not None:
            draft.places["job_id"] = job_place
    return [finish(draft, files, job, len(drafts) == 1) for draft in drafts]


def last_begun(drafts: list[RunDraft], line: int) -> int:
    """Return the position of the last run that begins before a line, or else of the first run."""
    return max(bisect_right(drafts, line, key=lambda draft: draft.first) - 1, 0)


def attach_facts(file: ScannedFile, here: list[RunDraft]) -> None:
    """Assign each fact about a whole run to the run that precedes it.

    The number of workers is printed before a run, so between two runs it belongs to the second.
    """
    for line, facts in file.facts:
        where = Where(file.name, line)
        if facts.of_workers is not None:
            attach_total(facts, where, here)
            continue
        place = last_begun(here, line)
        draft = here[place]
        add_to_run(draft.facts, facts, where)
        ahead = line > draft.last and place + 1 < len(here)
        add_sizes(here[place + 1] if ahead else draft, facts, where)
        if (total := facts.numbers.get("total_seconds")) is not None:
            draft.totals.append(total)
        if facts.done or facts.early or "total_seconds" in facts.numbers:
            draft.places["outcome"] = where
        draft.closings.append((file, line, facts))


def add_sizes(draft: RunDraft, more: RunFacts, where: Where) -> None:
    """Add the worker counts from one more line. The first statement counts."""
    facts = draft.facts
    if more.workers or more.batch or more.rank is not None or more.alone:
        draft.places.setdefault("workers", where)
    facts.workers = more.workers if facts.workers is None else facts.workers
    facts.says_end = facts.says_end or more.says_end
    if more.alone is not None:
        facts.alone = more.alone and facts.alone is not False
    facts.batch = more.batch if facts.batch is None else facts.batch
    facts.batch_each = more.batch_each if facts.batch_each is None else facts.batch_each


def workers_of(facts: RunFacts) -> int | None:
    """Return the number of workers, either as printed or as global batch / batch per worker."""
    if facts.workers is None and facts.alone:
        return 1
    if facts.workers is not None or not facts.batch or not facts.batch_each:
        return facts.workers
    each, rest = divmod(facts.batch, facts.batch_each)
    return each if rest == 0 and each > 0 else None


def ranks_of(files: list[ScannedFile]) -> int | None:
    """Return the number of ranks, if every rank from 0 upward printed its number."""
    ranks = {facts.rank for file in files for _, facts in file.facts if facts.rank is not None}
    return len(ranks) if len(ranks) > 1 and max(ranks) == len(ranks) - 1 else None


def gpus_named(files: list[ScannedFile]) -> int | None:
    """Return the number of GPUs in the files' name, such as `4gpu.out`."""
    named = {output_names.read(file.name).workers for file in files} - {None}
    return named.pop() if len(named) == 1 else None


def attach_total(facts: RunFacts, where: Where, drafts: list[RunDraft]) -> None:
    """Assign "Training time with 4 GPUs" to the last run before it that used 4 GPUs."""
    total = facts.numbers.get("total_seconds")
    before = [draft for draft in drafts if draft.first <= where.line] or drafts
    for draft in reversed(before):
        if total is not None and workers_of(draft.facts) == facts.of_workers:
            draft.facts.numbers["total_seconds"] = placed(total, where)
            draft.ended = True
            return


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
    name = outcome.exception_name
    return draft.recorded is not None and name(end.text) == name(draft.recorded.text)


def job_of(files: list[ScannedFile]) -> tuple[str | None, Where | None]:
    """Return the job id in the outputs with its place, or else the id in the file names.

    If the ids differ, the job is unknown.
    """
    places: dict[str, Where] = {}
    for file in files:
        for line, facts in file.facts:
            if facts.job_id:
                places.setdefault(facts.job_id, Where(file.name, line))
    named = {job for file in files if (job := output_names.read(file.name).job_id)}
    ids = list(places or named)
    return ids[0] if len(ids) == 1 else None, next(iter(places.values()), None)


def finish(draft: RunDraft, files: list[ScannedFile], job: str | None, alone: bool) -> Run:
    run, whole = with_end(draft, files)
    problems = [*run.problems, *draft.problems]
    numbers: dict[str, Any] = {}
    for fact in RUN_NUMBERS:
        name = fact.removeprefix("run_")
        if getattr(run, name) is None:
            numbers[name] = checked(name, draft.facts.numbers.get(fact), problems)
    ended, reasons = run.outcome, draft.ends
    if not draft.certain and ended != Outcome.EMPTY:
        ended, reasons = outcome.decide(whole, draft.ends, final_ends(draft, files))
        silent = draft.facts.says_end or not nothing_else_ended_it(draft, files)
        if ended in (Outcome.COMPLETED, Outcome.INCOMPLETE) and not whole:
            ended = Outcome.UNKNOWN if not draft.known or (whole is None and silent) else ended
    problems += [end.as_problem() for end in reasons]
    problems.sort(key=lambda problem: (problem.where.file, problem.where.line))
    places = draft.run.places | draft.places
    if ended != Outcome.COMPLETED:
        places.pop("outcome", None)
    if ended not in (Outcome.COMPLETED, Outcome.UNKNOWN) and reasons:
        outcomes = {outcome.CAUSES[end.kind]: end.where for end in reversed(reasons)}
        places["outcome"] = outcomes.get(ended, reasons[-1].where)
    named = None if run.format in (record.FORMAT, mllog.FORMAT) or not alone else gpus_named(files)
    whole_run = replace(
        run,
        places=places,
        files=tuple(dict.fromkeys((*run.files, *(file.name for file in files)))),
        outcome=ended,
        workers=run.workers or workers_of(draft.facts) or ranks_of(files) or named,
        job_id=run.job_id or job,
        problems=tuple(dict.fromkeys(problems))[:MOST_PROBLEMS],
        **numbers,
    )
    return agreed(whole_run, draft.totals)
