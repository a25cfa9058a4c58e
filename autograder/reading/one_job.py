"""One job: its files' lines put together into runs, each with its end and its problems."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.reading import outcome
from autograder.reading.formats import bars, mllog, record
from autograder.reading.formats.reader import Reader
from autograder.reading.lanes import add_to_run, placed
from autograder.reading.lanes_to_runs import checked
from autograder.reading.line_facts import RunFacts, RunNumber
from autograder.reading.outcome import EndLine
from autograder.reading.run_drafts import RunDraft, drafts_of
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Problem, Run, Where
from autograder.submissions import output_names

MOST_PROBLEMS = 100  # of a run; more help nobody
# What ended a job before its time. Ranks that waited for each other may have met after all.
BAD_ENDS = ("oom", "timeout", "cancelled", "exception", "exit")


def read_job(
    files: list[ScannedFile], launches: record.Launches, formats: Sequence[Reader]
) -> list[Run]:
    """The runs of one job, from all of its files."""
    drafts = drafts_of(files, launches, formats)
    for at, file in enumerate(files):
        attach_facts(at, file, drafts)
        attach_ends(at, file, drafts)
        attach_problems(at, file, drafts)
    for draft in drafts:
        if draft.recorded and not any(tells_of_recorded(draft, end) for end in draft.ends):
            draft.ends.append(draft.recorded)
    names = tuple(file.name for file in files)
    job = job_of(files)
    return [finish(draft, files, names, job) for draft in drafts]


def attach_facts(at: int, file: ScannedFile, drafts: list[RunDraft]) -> None:
    """Give what is said about whole runs to the run before; the number of workers is said ahead,
    so a line with it that stands between two runs speaks of the second."""
    here = [draft for draft in drafts if draft.file == at] or drafts[-1:]
    starts = [draft.first for draft in here]
    for line, facts in file.facts:
        where = Where(file.name, line)
        if facts.of_workers is not None:
            attach_total(facts, where, drafts)
            continue
        after = bisect_right(starts, line)
        draft = here[max(after - 1, 0)]
        add_to_run(draft.facts, facts, where)
        ahead = line > draft.last and after < len(here)
        known = (here[after] if ahead else draft).facts
        known.workers = facts.workers if known.workers is None else known.workers


def attach_total(facts: RunFacts, where: Where, drafts: list[RunDraft]) -> None:
    """ "Training time with 4 GPUs": of the run that has 4, wherever the line stands."""
    total = facts.numbers.get("total_seconds")
    for draft in drafts:
        if total is not None and draft.facts.workers == facts.of_workers:
            draft.facts.numbers["total_seconds"] = placed(total, where)


def attach_ends(at: int, file: ScannedFile, drafts: list[RunDraft]) -> None:
    """Give what tells of an end to the run that it may tell of: the last one that began before."""
    here = [draft for draft in drafts if draft.file == at]
    starts = [draft.first for draft in here]
    for end in file.ends:
        line = end.where.line
        draft = here[max(bisect_right(starts, line) - 1, 0)] if here else drafts[-1]
        if not here or line >= draft.last or tells_of_recorded(draft, end):
            draft.ends.append(end)


def tells_of_recorded(draft: RunDraft, end: EndLine) -> bool:
    """A traceback of the exception that the record only names: it says more."""
    name = outcome.exception_name
    return draft.recorded is not None and name(end.text) == name(draft.recorded.text)


def attach_problems(at: int, file: ScannedFile, drafts: list[RunDraft]) -> None:
    """Give damaged lines to the run that they stand in, or the next one."""
    here = [draft for draft in drafts if draft.file == at] or drafts[-1:]
    starts = [draft.first for draft in here]
    for problem in file.problems:
        here[max(bisect_right(starts, problem.where.line) - 1, 0)].problems.append(problem)


def job_of(files: list[ScannedFile]) -> str | None:
    """The job's id as the output says it, else as the names do; None if they do not agree."""
    printed = [facts.job_id for file in files for _, facts in file.facts if facts.job_id]
    named = [job for file in files if (job := output_names.read(file.name).job_id)]
    ids = dict.fromkeys(printed or named)
    return next(iter(ids)) if len(ids) == 1 else None


def finish(
    draft: RunDraft, files: list[ScannedFile], names: tuple[str, ...], job: str | None
) -> Run:
    run, whole = with_end(draft, files)
    problems = [*run.problems, *draft.problems]
    numbers: dict[str, Any] = {
        name: checked(name, draft.facts.numbers.get(fact), problems)
        for name, fact in RUN_NUMBERS.items()
        if getattr(run, name) is None
    }
    ended, reasons = run.outcome, draft.ends
    if not draft.certain and ended != "empty":
        ended, reasons = outcome.decide(whole, draft.ends, last_words(draft, files))
        if ended == "completed" and not run.epochs and run.format != bars.FORMAT and not whole:
            ended = "incomplete"
    problems += [Problem(end.where, end.text, end.reason) for end in reasons]
    bad = [end for end in draft.ends if end.kind in BAD_ENDS] if draft.certain else []
    errors = tuple(Problem(end.where, end.text, end.reason) for end in bad[:MOST_PROBLEMS])
    return replace(
        run,
        beside=replace(run.beside, errors=errors) if errors else run.beside,
        files=tuple(dict.fromkeys((*run.files, *names))),
        outcome=ended,
        workers=run.workers or draft.facts.workers,
        job_id=run.job_id or job,
        problems=tuple(sorted(dict.fromkeys(problems), key=place))[:MOST_PROBLEMS],
        **numbers,
    )


def place(problem: Problem) -> tuple[str, int]:
    return problem.where.file, problem.where.line


# What a Run calls them, and the facts of its lines.
RUN_NUMBERS: dict[str, RunNumber] = {
    "test_accuracy": "test_accuracy",
    "test_loss": "test_loss",
    "throughput": "run_throughput",
    "total_seconds": "total_seconds",
}


def with_end(draft: RunDraft, files: list[ScannedFile]) -> tuple[Run, bool | None]:
    """The run, and whether all of it is there: a program that says that it is done, or how long it
    took, has finished its last epoch."""
    run, whole, facts = draft.run, draft.whole, draft.facts
    if whole is None and any(file.open_bar for file in files):
        whole = False
    if whole or draft.certain or run.format in (record.FORMAT, mllog.FORMAT):
        return run, whole
    if not (facts.done or facts.early or "total_seconds" in facts.numbers):
        return run, whole
    if run.unfinished is not None and run.epochs_done is None:
        run = replace(run, epochs=(*run.epochs, run.unfinished), unfinished=None)
    return run, True


def last_words(draft: RunDraft, files: list[ScannedFile]) -> list[EndLine]:
    """What tells of a run's end and after which its file says nothing else."""
    words: list[EndLine] = []
    for file in files:
        ends = sorted(
            (end for end in draft.ends if end.where.file == file.name),
            key=lambda end: end.where.line,
        )
        after = file.last_line
        for end in reversed(ends):
            if after - end.where.line > 2:
                break
            words.append(end)
            after = end.where.line
    return words
