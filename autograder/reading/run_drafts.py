"""Collect the runs in a job's files as drafts, which are completed from surrounding lines later."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from autograder.codes import Outcome
from autograder.notes import Note, make_problem
from autograder.reading import ends, lane_runs
from autograder.reading.ends import EndLine
from autograder.reading.formats import record, record_run
from autograder.reading.lanes import Lane
from autograder.reading.line_facts import Reader, RunFacts
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Run, Where


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
            run = record_run.to_run(launch)
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
    drafts = []
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
    run = Run(names, "unknown", Outcome.UNKNOWN, problems=(problem,))
    return RunDraft(run, files[0], 0, 0)
