"""Decide how a run ended, from the lines around it.

The surest sign of the end is the number of epochs. Without that number, an output that was cut off
after an epoch looks like a finished one. In that case, the output must also contain a message, a
total or a test result. Failing that, the job's error output must be available, because a scheduler
would have written to it.
"""

from collections.abc import Iterator

from autograder.codes import Outcome
from autograder.reading import ends, lines
from autograder.reading.ends import EndLine
from autograder.reading.line_facts import RunFacts
from autograder.reading.run_drafts import RunDraft
from autograder.reading.scanned_file import KEPT, ScannedFile
from autograder.records import Where
from autograder.submissions import output_names

MOST_TELLING = 3  # lines per rank that may belong to an exception's own message


def training_end(draft: RunDraft) -> Where | None:
    """Return the line after the last epoch that rules out any further epochs.

    A kind of line that also follows earlier epochs does not count. After a single epoch, such kinds
    cannot be recognised.
    """
    epochs = len(draft.run.epochs) + (draft.run.unfinished is not None)
    before = {
        kind
        for file, line, facts in draft.facts
        if file is draft.file and draft.first <= line <= draft.begun
        for kind in kinds_of(facts)
    }
    for file, line, facts in draft.facts:
        kinds = set(kinds_of(facts)) - before
        if draft.unmet or epochs == 1:
            kinds -= {"total"}
        if draft.whole is False or epochs < 2:
            kinds -= {"test"}
        if kinds and (file is not draft.file or line > draft.begun):
            return Where(file.name, line)
    return None


def kinds_of(facts: RunFacts) -> Iterator[str]:
    if facts.done:
        yield "done"
    if "total_seconds" in facts.numbers:
        yield "total"
    if facts.numbers.keys() & {"test_accuracy", "test_loss"}:
        yield "test"


def outcome_of(
    draft: RunDraft, files: list[ScannedFile], whole: bool | None
) -> tuple[Outcome, list[EndLine]]:
    """Return the outcome, and the lines that show it. `whole`: whether all epochs are there."""
    if draft.followed and whole:
        # A program that fails before its first epoch leaves no other trace than its exception.
        final = [end for end in draft.ends if end.kind in ("timeout", "cancelled")]
    else:
        final = draft.ends if draft.followed else final_ends(draft, files)
    outcome, reasons = ends.decide(whole, draft.ends, final)
    several = draft.followed or draft.run.format == "unknown"  # there may be other runs
    if outcome == Outcome.COMPLETED and several and draft.ends:
        return Outcome.UNKNOWN, reasons
    errors = any(output_names.read(file.name).is_error for file in files) and len(files) > 1
    sure = whole is not None or (errors and not draft.followed and bool(draft.run.epochs))
    if outcome in (Outcome.COMPLETED, Outcome.INCOMPLETE) and not sure:
        return Outcome.UNKNOWN, reasons
    return outcome, reasons


def final_ends(draft: RunDraft, files: list[ScannedFile]) -> list[EndLine]:
    """Return the final ends: nothing after them in their file shows that the program continued."""
    final: list[EndLine] = []
    for file in files:
        if here := [end for end in draft.ends if end.where.file == file.name]:
            results = (line for line, facts in file.facts if facts.done or facts.numbers)
            after = max(last_telling(file), *results, 0)
            final += [end for end in here if end.where.line > after]
    return final


def last_telling(file: ScannedFile) -> int:
    """Return the line after which only launchers, schedulers, services and exceptions print.

    Up to `MOST_TELLING` other lines per rank may follow it.
    """
    end_lines = {end.where.line for end in file.ends}
    number, telling = file.lines + 1, dict[int | None, int]()  # per rank
    for raw in reversed(file.tail.split(b"\n")):
        number -= 1
        if not raw or number in end_lines:
            continue
        rank, text = lines.shown(raw)
        if ends.printed_after().match(text[:400]):
            continue
        telling[rank] = telling.get(rank, 0) + 1
        if telling[rank] > MOST_TELLING:
            return number
    return number if len(file.tail) >= KEPT else 0
