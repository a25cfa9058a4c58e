"""Collect the runs in a job's files as drafts, which are completed from surrounding lines later."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

from autograder.codes import Outcome
from autograder.reading import lanes_to_runs, outcome
from autograder.reading.formats import bars, mllog, record, record_run
from autograder.reading.formats.plain.steps import FORMAT as STEPS
from autograder.reading.formats.reader import Reader
from autograder.reading.lanes import Lane
from autograder.reading.lanes_to_runs import next_of
from autograder.reading.line_facts import EPOCH_NUMBERS, RunFacts, both
from autograder.reading.outcome import EndLine
from autograder.reading.printed_lines import READERS
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Epoch, Number, Problem, Run, Where

# Outcomes of a job that ended too early. Stalled ranks are not among them: they may have continued.
BAD_ENDS = ("oom", "timeout", "cancelled", "exception", "exit")


@dataclass(slots=True)
class RunDraft:
    """A run that is still being assembled."""

    run: Run
    file: ScannedFile  # the one of the job's files in which it begins
    first: int  # line numbers
    last: int
    # whether all epochs are there; None: the output does not give their number
    whole: bool | None = None
    certain: bool = False  # whether its own record reports success
    known: bool = True  # whether a reader knows the format
    followed: bool = False  # whether another run of the file begins after it
    begun: int = 0  # first line of the last epoch
    unmet: bool = False  # whether it printed fewer epochs than it announced
    # whether a line of its own format reports the end, or the file's last lines its total time
    ended: bool = False
    # the failure that its own record reports, with the exception's name
    recorded: EndLine | None = None
    ends: list[EndLine] = field(default_factory=list)  # lines that may say how it ended
    problems: list[Problem] = field(default_factory=list)
    facts: RunFacts = field(default_factory=RunFacts)  # facts from outside its record
    places: dict[str, Where] = field(default_factory=dict)  # as in Run
    totals: list[Number] = field(default_factory=list)  # all printed total times
    # Lines that may show the end of the training: file, line, facts.
    closings: list[tuple[ScannedFile, int, RunFacts]] = field(default_factory=list)


def drafts_of(
    files: list[ScannedFile], launches: record.Launches, formats: Sequence[Reader]
) -> list[RunDraft]:
    """Return the runs in one job's files: at least one, unless the files only copy other files."""
    drafts: list[RunDraft] = []
    for file in files:
        here = from_records(file, launches)
        printed = from_printed(file, formats, here)
        here = sorted([*here, *printed], key=lambda draft: (draft.first, draft.last))
        here += without_epochs(file, here) if printed else []
        drafts += sorted(here, key=lambda draft: (draft.first, draft.last))
    for draft, after in pairwise(drafts):
        draft.followed = draft.file is after.file
    copies = {name for launch in launches.by_run.values() for name in launch.copies}
    if not drafts and any(file.name in copies for file in files):
        return []
    return merged(drafts) if drafts else [without_run(files)]


def from_records(file: ScannedFile, launches: record.Launches) -> list[RunDraft]:
    """Return the runs that begin in a file, from the course's record and from MLPerf's lines."""
    drafts = []
    for launch in launches.by_run.values():
        if launch.first is not None and launch.first.file == file.name:
            last = launch.last.line if launch.last and launch.last.file == file.name else 10**15
            run = record_run.to_run(launch)
            certain = run.outcome == Outcome.COMPLETED
            draft = RunDraft(run, file, launch.first.line, last, certain, certain)
            if run.outcome == Outcome.FAILED:
                name = run.end.reason or "Exception"
                end = outcome.read_exception(f"{name}: ", launch.last or launch.first)
                draft.recorded = end and replace(end, text=f"{name[:200]} (from the record)")
            drafts.append(draft)
    for benchmark in file.benchmarks.runs:
        run = mllog.to_run(benchmark)
        certain = run.outcome == Outcome.COMPLETED
        drafts.append(RunDraft(run, file, benchmark.first, benchmark.last, certain, certain))
    return drafts


def without_epochs(file: ScannedFile, drafts: list[RunDraft]) -> list[RunDraft]:
    """Return runs that ended before they printed anything, if the file also has other runs.

    The only trace of such a run is a bad end after the start of another program, or after the
    reported end of the previous run.
    """
    begins = begins_of(file)
    done = sorted(line for line, facts in file.facts if facts.done)
    ends = sorted(end.where.line for end in file.ends if end.kind in BAD_ENDS)
    added: list[RunDraft] = []
    for draft, follower in zip_longest(drafts, drafts[1:]):
        if draft.run.format in (record.FORMAT, mllog.FORMAT):
            continue  # its record says when it begins
        begun = Run((file.name,), draft.run.format, Outcome.INCOMPLETE)
        before = follower.first if follower else math.inf
        place = bisect_right(begins, draft.last)
        over = next_of(done, draft.last - 1, before) if follower else None
        if follower and draft.facts.done:
            over = draft.last
        if over is not None and next_of(begins, draft.last, before) is None:
            end = next_of(ends, over, before)
            if end is not None:
                added.append(RunDraft(begun, file, end, end, False))
        while place < len(begins) and begins[place] < before:
            end = next_of(ends, begins[place], before)
            if end is None:
                break
            after = bisect_right(begins, end)
            added.append(RunDraft(begun, file, begins[place], begins[after - 1], False))
            place = after
    return added


def begins_of(file: ScannedFile) -> list[int]:
    """Return the lines at which programs begin."""
    return sorted(n for n, facts in file.facts if facts.starts or facts.workers is not None)


def from_printed(
    file: ScannedFile, formats: Sequence[Reader], records: Sequence[RunDraft]
) -> list[RunDraft]:
    """Return the runs of all other formats in a file."""
    drafts = []
    order = [reader.format for reader in (*formats, *READERS)]
    begins = begins_of(file)
    for lanes in lanes_to_runs.chosen(file.lanes, order, begins):
        run, whole = lanes_to_runs.to_run(file.name, lanes)
        first, last = lanes_to_runs.span(lanes)
        if any(goes_on(record_, lanes[0], file) for record_ in records):
            continue
        is_certain = whole is not None or run.format != STEPS
        draft = RunDraft(run, file, first, last, whole, known=is_certain, facts=lanes[0].run)
        lane = lanes_to_runs.first_rank(lanes)
        ranks = [other for other in lanes if max(other.epochs) == max(lane.epochs)]
        begun = min(rank.epochs[max(rank.epochs)].begun for rank in ranks)
        draft.begun = last if run.format == STEPS else begun
        draft.unmet = lane.of is not None and lane.current < lane.of
        stated = draft.facts
        draft.ended = stated.done or stated.early or "total_seconds" in stated.numbers
        drafts.append(draft)
    if file.lanes.left_out:
        reason = f"{file.lanes.left_out} more lines about epochs were ignored: too many to be real"
        file.complain(max((draft.last for draft in drafts), default=0), "", reason)
    return drafts


def goes_on(draft: RunDraft, lane: Lane, file: ScannedFile) -> bool:
    """Return whether these lines continue a recorded run whose record ends prematurely.

    They do if the program printed the next epoch, or repeated the last one (numbers may start at
    0), and nothing ended the run in between.
    """
    done, begun = len(draft.run.epochs), min(lane.epochs)
    if draft.run.outcome != Outcome.INCOMPLETE or not max(done - 1, 1) <= begun <= done + 1:
        return False
    if max(lane.epochs) > done + 1:
        return False  # otherwise the record would have more epochs
    between = range(draft.last, lane.first)
    return draft.last < lane.first and not any(end.where.line in between for end in file.ends)


def merged(drafts: list[RunDraft]) -> list[RunDraft]:
    """Merge runs that appear in both the output and the error output.

    One file has the progress bars, and the other has the printed lines.
    """
    first = [draft for draft in drafts if draft.file is drafts[0].file]
    rest = [draft for draft in drafts if draft.file is not drafts[0].file]
    if rest and len(rest) == len(first):
        for draft, other in zip(first, rest, strict=True):
            epochs = merged_epochs(draft.run.epochs, other.run.epochs)
            draft.run = replace(draft.run, epochs=epochs)
            draft.facts = both(draft.facts, other.facts)
    return first + [draft for draft in rest if draft.certain]


def merged_epochs(epochs: tuple[Epoch, ...], others: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
    """Return the epochs, with missing values filled in from the same epochs in `others`."""
    by_number = {epoch.number: epoch for epoch in others}
    whole = []
    for epoch in epochs:
        other = by_number.get(epoch.number, epoch)
        missing = {
            name: getattr(other, name)
            for name in (*EPOCH_NUMBERS, "steps")
            if getattr(epoch, name) is None
        }
        whole.append(replace(epoch, **missing))
    return tuple(whole)


def without_run(files: list[ScannedFile]) -> RunDraft:
    """Return a draft for a job in which no reader recognises a run."""
    names = tuple(file.name for file in files)
    if all(file.blank for file in files):
        return RunDraft(Run(names, "unknown", Outcome.EMPTY), files[0], 0, 0, False)
    for file in files:
        if (bar := file.bar) is not None:
            whole = None if bar.at >= bar.of > 0 else False
            return RunDraft(Run(names, bars.FORMAT, Outcome.INCOMPLETE), file, 0, 0, whole)
    where = Where(names[0], 1)
    reason = "no training run was recognised in this file"
    run = Run(names, "unknown", Outcome.UNKNOWN, problems=(Problem(where, "", reason),))
    return RunDraft(run, files[0], 0, 0, None, known=False)
