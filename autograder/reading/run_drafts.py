"""The runs that begin in a job's files, as drafts: what lines around them say is still to come."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autograder.reading import beside_records, lanes_to_runs, outcome
from autograder.reading.formats import bars, mllog, record, record_run
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import EPOCH_NUMBERS, RunFacts, both
from autograder.reading.outcome import EndLine
from autograder.reading.printed_lines import READERS
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Epoch, Problem, Run, Where


@dataclass(slots=True)
class RunDraft:
    """A run while it is put together."""

    run: Run
    file: int  # place among the job's files
    first: int  # lines
    last: int
    whole: bool | None = None  # all its epochs are there; None: the output does not say how many
    certain: bool = False  # its own record says that it ended well
    recorded: EndLine | None = None  # its own record says that it failed, and names the exception
    ends: list[EndLine] = field(default_factory=list)  # what may tell how it ended
    problems: list[Problem] = field(default_factory=list)
    facts: RunFacts = field(default_factory=RunFacts)  # what is said of it outside of its record


def drafts_of(
    files: list[ScannedFile], launches: record.Launches, formats: Sequence[Reader]
) -> list[RunDraft]:
    """The runs of one job's files, at least one."""
    drafts: list[RunDraft] = []
    for at, file in enumerate(files):
        here = from_records(at, file, launches) + from_printed(at, file, formats)
        drafts += sorted(here, key=lambda draft: (draft.first, draft.last))
    return merged(drafts) if drafts else [without_run(files)]


def from_records(at: int, file: ScannedFile, launches: record.Launches) -> list[RunDraft]:
    """The launches of the course's record that begin in a file, and its runs of MLPerf's."""
    drafts = []
    for launch in launches.by_run.values():
        if launch.first is not None and launch.first.file == file.name:
            last = launch.last.line if launch.last and launch.last.file == file.name else 10**15
            beside = beside_records.of_run(file.beside, launch.run)
            run = replace(record_run.to_run(launch), beside=beside)
            certain = run.outcome == "completed"
            draft = RunDraft(run, at, launch.first.line, last, certain, certain)
            if run.outcome == "failed":
                name = str(run.end.get("reason", "Exception"))
                end = outcome.read_exception(f"{name}: ", launch.last or launch.first)
                draft.recorded = end and replace(end, text=f"{name[:200]} (from the record)")
            drafts.append(draft)
    for benchmark in file.benchmarks.runs:
        run = mllog.to_run(benchmark)
        certain = run.outcome == "completed"
        drafts.append(RunDraft(run, at, benchmark.first, benchmark.last, certain, certain))
    return drafts


def from_printed(at: int, file: ScannedFile, formats: Sequence[Reader]) -> list[RunDraft]:
    """The runs of all other formats in a file."""
    drafts = []
    order = [reader.format for reader in (*formats, *READERS)]
    for lanes in lanes_to_runs.chosen(file.lanes, order):
        run, whole = lanes_to_runs.to_run(file.name, lanes)
        first, last = lanes_to_runs.span(lanes)
        drafts.append(RunDraft(run, at, first, last, whole, facts=lanes[0].run))
    if file.lanes.left_out:
        reason = f"{file.lanes.left_out} more lines about epochs were left out: too many to be real"
        file.complain(file.last_line, "", reason)
    return drafts


def merged(drafts: list[RunDraft]) -> list[RunDraft]:
    """Output and error output tell of the same runs: bars go to one, prints to the other."""
    first = [draft for draft in drafts if draft.file == drafts[0].file]
    rest = [draft for draft in drafts if draft.file != drafts[0].file]
    if rest and len(rest) == len(first):
        for draft, other in zip(first, rest, strict=True):
            epochs = merged_epochs(draft.run.epochs, other.run.epochs)
            draft.run = replace(draft.run, epochs=epochs)
            draft.facts = both(draft.facts, other.facts)
    return first + [draft for draft in rest if draft.certain]


def merged_epochs(epochs: tuple[Epoch, ...], others: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
    """Epochs, with what they do not say themselves taken from those with the same number."""
    by_number = {epoch.number: epoch for epoch in others}
    whole = []
    for epoch in epochs:
        other = by_number.get(epoch.number)
        missing = {
            name: getattr(other, name)
            for name in (*EPOCH_NUMBERS, "steps")
            if other is not None and getattr(epoch, name) is None
        }
        whole.append(replace(epoch, **missing))
    return tuple(whole)


def without_run(files: list[ScannedFile]) -> RunDraft:
    """A job without any run that a reader knows."""
    names = tuple(file.name for file in files)
    if not any(file.last_line for file in files):
        return RunDraft(Run(names, "unknown", "empty"), 0, 0, 0, False)
    at, bar = next(((at, file.bar) for at, file in enumerate(files) if file.bar), (0, None))
    if bar is not None:
        whole = bar[0] >= bar[1] > 0
        return RunDraft(Run(names, bars.FORMAT, "incomplete"), at, 0, 0, whole)
    where = Where(names[0], 1)
    reason = "no training run was recognised here"
    run = Run(names, "unknown", "incomplete", problems=(Problem(where, "", reason),))
    return RunDraft(run, 0, 0, 0, False)
