"""Collect what is read of a job's files, and their runs as drafts to complete from other lines."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Generic, TypeVar

from autograder.codes import FindingCode, Outcome
from autograder.notes import Note
from autograder.reading import ends, lane_runs, lines
from autograder.reading.ends import EndLine
from autograder.reading.formats import record
from autograder.reading.formats.record import FORMAT, Launch
from autograder.reading.formats.record_values import header_of
from autograder.reading.lanes import Lane, Lanes
from autograder.reading.line_facts import Reader, RunFacts, make_problem
from autograder.reading.printed_numbers import count
from autograder.records import Epoch, Rank, Run, Where
from autograder.submissions import kinds

T = TypeVar("T")
KEPT = 1 << 16  # bytes at a file's end that are examined
# A line of a training or of a launcher, whatever its format.
OF_A_JOB = re.compile(
    rb"(?:epoch|loss|acc(?:uracy)?|step|iter(?:ation)?)\W{0,9}\d|\b(?:srun|mpirun|mpiexec|prun"
    rb"|torchrun|torch\.distributed|horovodrun|slurmstepd|SLURM_\w+)\b",
    re.IGNORECASE,
)
MOST = 500  # facts and ends kept from the beginning of a file, and as many from its end


class Ends(Generic[T]):
    """The first and last of many items, in bounded memory."""

    def __init__(self) -> None:
        self.first: list[T] = []
        self.last: deque[T] = deque(maxlen=MOST)

    def append(self, item: T) -> None:
        (self.first if len(self.first) < MOST else self.last).append(item)

    def __iter__(self) -> Iterator[T]:
        yield from self.first
        yield from self.last


@dataclass(slots=True)
class ScannedFile:
    """The contents of one file, read so far."""

    name: str
    size: int = 0  # bytes
    blank: bool = True
    tail: bytes = b""  # the file's last bytes
    lines: int = 1  # number of newlines + 1
    spans: dict[str, list[int]] = field(default_factory=dict)  # launch: first and last byte
    lanes: Lanes = field(default_factory=Lanes)
    facts: "Ends[tuple[int, RunFacts]]" = field(default_factory=lambda: Ends())  # with their lines
    ends: "Ends[EndLine]" = field(default_factory=lambda: Ends())
    open_traceback: bool = False  # whether the part read so far ends in a traceback
    problems: list[Note] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=dict)  # widths of damaged lines of a record

    def complain(
        self, line: int, text: str, reason: str, code: FindingCode = FindingCode.READ_PROBLEM
    ) -> None:
        if len(self.problems) < MOST:
            self.problems.append(make_problem(Where(self.name, line), text[:200], reason, code))


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
    followed: bool = False  # whether another run of the file begins after it
    begun: int = 0  # first line of the last epoch
    unmet: bool = False  # whether it printed fewer epochs than it announced
    # the failure that its own record reports, with the exception's name
    recorded: EndLine | None = None
    ends: list[EndLine] = field(default_factory=list)  # lines that may say how it ended
    problems: list[Note] = field(default_factory=list)
    # Facts from outside its record: file, line, facts.
    facts: list[tuple[ScannedFile, int, RunFacts]] = field(default_factory=list)


def drafts_of(
    files: list[ScannedFile], launches: record.Launches, readers: Sequence[Reader]
) -> list[RunDraft]:
    """Return the runs in one job's files: at least one, unless the files only copy other files."""
    drafts: list[RunDraft] = []
    for file in files:
        recorded = from_records(file, launches)
        here = [*recorded, *from_printed(file, readers, recorded)]
        drafts += sorted(here, key=lambda draft: (draft.first, draft.last))
    for draft, after in pairwise(drafts):
        draft.followed = draft.file is after.file
    copies = {name for launch in launches.by_run.values() for name in launch.copies}
    if not drafts and any(file.name in copies for file in files):
        return []
    # The job's other file may repeat what is printed in the first.
    drafts = [draft for draft in drafts if draft.file is drafts[0].file or draft.certain]
    return drafts or [without_run(files)]


def from_records(file: ScannedFile, launches: record.Launches) -> list[RunDraft]:
    """Return the runs whose record begins in a file."""
    drafts = []
    for launch in launches.by_run.values():
        if launch.first.file == file.name:
            last = launch.last.line if launch.last.file == file.name else file.lines
            run = to_run(launch)
            certain = run.outcome == Outcome.COMPLETED
            draft = RunDraft(run, file, launch.first.line, last, certain, certain)
            if run.outcome == Outcome.FAILED:
                name = run.end.reason or "Exception"
                end = ends.read_exception(f"{name}: ", launch.last)
                draft.recorded = end and replace(end, text=f"{name[:200]} (from the record)")
            drafts.append(draft)
    return drafts


def from_printed(
    file: ScannedFile, readers: Sequence[Reader], records: Sequence[RunDraft]
) -> list[RunDraft]:
    """Return the runs of all other formats in a file."""
    drafts: list[RunDraft] = []
    if not file.lanes.rows:
        return drafts
    for ranks in lane_runs.runs_in(file.lanes, [reader.format for reader in readers]):
        lane = lane_runs.first_rank(ranks)
        if any(goes_on(recorded, lane, file) for recorded in records):
            continue
        first, last = lane_runs.span(ranks)
        run = lane_runs.to_run(file.name, ranks)
        draft = RunDraft(run, file, first, last, lane_runs.is_whole(lane))
        draft.begun = min(r.epochs[lane.current].begun for r in ranks if lane.current in r.epochs)
        draft.unmet = lane.of is not None and lane.current < lane.of
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
    done = len(draft.run.epochs)
    if draft.run.outcome != Outcome.INCOMPLETE or max(lane.epochs) > done + 1:
        return False
    between = range(draft.last, lane.first)
    return (
        min(lane.epochs) >= max(done - 1, 1)
        and draft.last < lane.first
        and not any(end.where.line in between for end in file.ends)
    )


def without_run(files: list[ScannedFile]) -> RunDraft:
    """Return a draft for a job in which no reader recognises a run."""
    names = tuple(file.name for file in files)
    if all(file.blank for file in files):
        return RunDraft(Run(names, "unknown", Outcome.EMPTY), files[0], 0, 0, False)
    problem = make_problem(Where(names[0], 1), "", "no training run was recognised in this file")
    is_job = any(kinds.seems_of_a_job(f.name) or OF_A_JOB.search(f.tail) for f in files)
    run = Run(names, "unknown", Outcome.UNKNOWN, problems=(problem,), is_job_output=is_job)
    return RunDraft(run, files[0], 0, 0)


def to_run(launch: Launch) -> Run:
    """Return the launch as a Run. The record states its outcome."""
    if not launch.header or "header" not in launch.places:
        launch.complain(launch.first, launch.run, "the record has no header line")
    if launch.left_out:
        reason = f"{launch.left_out} more record lines were ignored"
        launch.complain(launch.last, "record", reason)

    def complain(name: str, reason: str) -> None:
        launch.complain(launch.first, name, reason, FindingCode.READ_PROBLEM)

    header = header_of(launch.header, complain)
    outcomes = {None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}
    return Run(
        files=tuple(launch.files),
        format=FORMAT,
        outcome=outcomes.get(launch.status, Outcome.FAILED),
        job_id=header.job_id,
        workers=count(header.world_size, 1),
        epochs=tuple(Epoch(n, **e) for n, e in sorted(launch.epochs.items()) if "where" in e),
        ranks=tuple(Rank(rank, **facts) for rank, facts in sorted(launch.ranks.items())),
        launch=launch.run,
        header=header,
        measures=tuple(launch.measures),
        chain_intact=bool(launch.chains) and not any(c.broken for c in launch.chains.values()),
        problems=tuple(launch.problems),
        places=launch.places,
        **launch.facts,
    )


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
    errors = any(kinds.output_name(file.name).is_error for file in files) and len(files) > 1
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
