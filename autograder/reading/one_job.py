"""One job: its files' lines put together into runs, each with its end and its problems."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.reading import assemble, outcome
from autograder.reading.formats import bars, mllog, record, record_run
from autograder.reading.formats.reader import EPOCH_NUMBERS, Reader, Said
from autograder.reading.outcome import Sign
from autograder.reading.scan import READERS, Scanned
from autograder.records import Epoch, Problem, Run, Where
from autograder.submissions import output_names

MOST_PROBLEMS = 100  # of a run; more help nobody
# What is said of a run that is still to come; everything else is said of the run that was.
AHEAD = {"workers"}


@dataclass(slots=True)
class Found:
    """A run while it is put together."""

    run: Run
    file: int  # place among the job's files
    first: int  # lines
    last: int
    whole: bool | None = None
    certain: bool = False  # its own record says that it ended well
    recorded: Sign | None = None  # its own record says that it failed, and names the exception
    signs: list[Sign] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)


def read_job(
    files: list[Scanned], launches: record.Launches, formats: Sequence[Reader]
) -> list[Run]:
    """The runs of one job, from all of its files."""
    found = [one for at, file in enumerate(files) for one in runs_of(at, file, launches, formats)]
    found = merged(found) or [nothing_found(files)]
    for at, file in enumerate(files):
        attach_facts(at, file, found)
        attach_signs(at, file, found)
        attach_problems(at, file, found)
    for one in found:
        if one.recorded and not any(tells_of_recorded(one, sign) for sign in one.signs):
            one.signs.append(one.recorded)
    names = tuple(file.name for file in files)
    job = job_of(files)
    return [finish(one, files, names, job) for one in found]


def runs_of(
    at: int, file: Scanned, launches: record.Launches, formats: Sequence[Reader]
) -> list[Found]:
    """The runs that begin in a file, in its order."""
    found = []
    for launch in launches.by_run.values():
        if launch.first is not None and launch.first.file == file.name:
            last = launch.last.line if launch.last and launch.last.file == file.name else 10**15
            run = record_run.to_run(launch)
            certain = run.outcome == "completed"
            one = Found(run, at, launch.first.line, last, certain, certain)
            if run.outcome == "failed":
                name = str(run.end.get("reason", "Exception"))
                sign = outcome.exception_sign(f"{name}: ", launch.last or launch.first)
                one.recorded = sign and replace(sign, text=f"{name[:200]} (from the record)")
            found.append(one)
    for benchmark in file.benchmarks.runs:
        run = mllog.to_run(benchmark)
        certain = run.outcome == "completed"
        found.append(Found(run, at, benchmark.first, benchmark.last, certain, certain))
    order = [reader.format for reader in (*formats, *READERS)]
    for lanes in assemble.chosen(file.lanes, order):
        run, whole = assemble.to_run(file.name, lanes)
        first, last = assemble.span(lanes)
        found.append(Found(run, at, first, last, whole, said=dict(lanes[0].run)))
    if file.lanes.left_out:
        reason = f"{file.lanes.left_out} more lines about epochs were left out: too many to be real"
        file.complain(file.last_line, "", reason)
    return sorted(found, key=lambda one: (one.first, one.last))


def merged(found: list[Found]) -> list[Found]:
    """Output and error output tell of the same runs: bars go to one, prints to the other."""
    first = [one for one in found if one.file == found[0].file]
    rest = [one for one in found if one.file != found[0].file]
    if rest and len(rest) == len(first):
        for one, other in zip(first, rest, strict=True):
            one.run = replace(one.run, epochs=merged_epochs(one.run.epochs, other.run.epochs))
            one.said = other.said | one.said
    return first + [one for one in rest if one.certain]


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


def nothing_found(files: list[Scanned]) -> Found:
    """A job without any run that a reader knows."""
    names = tuple(file.name for file in files)
    if not any(file.last_line for file in files):
        return Found(Run(names, "unknown", "empty"), 0, 0, 0, False)
    at, bar = next(((at, file.bar) for at, file in enumerate(files) if file.bar), (0, None))
    if bar is not None:
        return Found(Run(names, bars.FORMAT, "incomplete"), at, 0, 0, bar[0] >= bar[1] > 0)
    where = Where(names[0], 1)
    reason = "no training run was recognised here"
    run = Run(names, "unknown", "incomplete", problems=(Problem(where, "", reason),))
    return Found(run, 0, 0, 0, False)


def attach_facts(at: int, file: Scanned, found: list[Found]) -> None:
    """Give what is said about whole runs to the run before or, if it is said ahead, after it."""
    here = [one for one in found if one.file == at] or found[-1:]
    starts = [one.first for one in here]
    for line, said in file.facts:
        if "of_workers" in said:
            attach_total(said, line, file.name, found)
            continue
        before = bisect_right(starts, line)
        run = here[max(before - 1, 0)]
        for name, value in said.items():
            if name in AHEAD and line > run.last and before < len(here):
                here[before].said.setdefault(name, value)
            elif name in AHEAD:
                run.said.setdefault(name, value)
            elif value is not None:
                run.said[name] = assemble.placed(value, Where(file.name, line))


def attach_total(said: Said, line: int, name: str, found: list[Found]) -> None:
    """ "Training time with 4 GPUs": of the run that has 4, wherever the line stands."""
    total = said["total_seconds"]
    for one in found:
        if total is not None and one.said.get("workers") == said["of_workers"]:
            one.said["total_seconds"] = assemble.placed(total, Where(name, line))


def attach_signs(at: int, file: Scanned, found: list[Found]) -> None:
    """Give a sign to the run whose end it may tell of: the last one that began before it."""
    here = [one for one in found if one.file == at]
    starts = [one.first for one in here]
    for sign in file.signs:
        run = here[max(bisect_right(starts, sign.where.line) - 1, 0)] if here else found[-1]
        if not here or sign.where.line >= run.last or tells_of_recorded(run, sign):
            run.signs.append(sign)


def tells_of_recorded(one: Found, sign: Sign) -> bool:
    """A traceback of the exception that the record only names: it says more."""
    name = outcome.exception_name
    return one.recorded is not None and name(sign.text) == name(one.recorded.text)


def attach_problems(at: int, file: Scanned, found: list[Found]) -> None:
    """Give damaged lines to the run that they stand in, or the next one."""
    here = [one for one in found if one.file == at] or found[-1:]
    starts = [one.first for one in here]
    for problem in file.problems:
        here[max(bisect_right(starts, problem.where.line) - 1, 0)].problems.append(problem)


def job_of(files: list[Scanned]) -> str | None:
    """The job's id as the output says it, else as the names do; None if they do not agree."""
    said = [said["job_id"] for file in files for _, said in file.facts if "job_id" in said]
    named = [job for file in files if (job := output_names.stem(file.name)[2])]
    ids = dict.fromkeys(said or named)
    return next(iter(ids)) if len(ids) == 1 else None


def finish(one: Found, files: list[Scanned], names: tuple[str, ...], job: str | None) -> Run:
    run, said = one.run, one.said
    problems = [*run.problems, *one.problems]
    whole = one.whole
    if whole is None and any(file.open_bar for file in files):
        whole = False
    if whole is not True and not one.certain and run.format not in (record.FORMAT, mllog.FORMAT):
        run, whole = with_end(run, whole, said)
    numbers: dict[str, Any] = {
        name: assemble.checked(name, said.get(said_name), problems)
        for name, said_name in RUN_NUMBERS.items()
        if getattr(run, name) is None
    }
    ended, reasons = run.outcome, one.signs
    if not one.certain and ended != "empty":
        ended, reasons = outcome.decide(whole, one.signs, last_words(one, files))
        if ended == "completed" and not run.epochs and run.format != bars.FORMAT and not whole:
            ended = "incomplete"
    problems += [Problem(sign.where, sign.text, sign.reason) for sign in reasons]
    return replace(
        run,
        files=tuple(dict.fromkeys((*run.files, *names))),
        outcome=ended,
        workers=run.workers or said.get("workers"),
        job_id=run.job_id or job,
        early_stop=bool(said.get("early")),
        problems=tuple(sorted(dict.fromkeys(problems), key=place))[:MOST_PROBLEMS],
        **numbers,
    )


def place(problem: Problem) -> tuple[str, int]:
    return problem.where.file, problem.where.line


RUN_NUMBERS = {
    "test_accuracy": "test_accuracy",
    "test_loss": "test_loss",
    "throughput": "run_throughput",
    "total_seconds": "total_seconds",
}


def with_end(run: Run, whole: bool | None, said: dict[str, Any]) -> tuple[Run, bool | None]:
    """A program that says that it is done, or how long it took, has finished its last epoch."""
    if not (said.get("done") or said.get("early") or said.get("total_seconds")):
        return run, whole
    if run.unfinished is not None and run.epochs_done is None:
        run = replace(run, epochs=(*run.epochs, run.unfinished), unfinished=None)
    return run, True


def last_words(one: Found, files: list[Scanned]) -> list[Sign]:
    """The signs of a run after which its file says nothing more but signs."""
    ends: list[Sign] = []
    for file in files:
        signs = sorted(
            (sign for sign in one.signs if sign.where.file == file.name),
            key=lambda sign: sign.where.line,
        )
        after = file.last_line
        for sign in reversed(signs):
            if after - sign.where.line > 2:
                break
            ends.append(sign)
            after = sign.where.line
    return ends
