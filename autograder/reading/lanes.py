"""From what single lines say to lanes: ranks and runs that share a file, told apart.

A lane is one process's sequence of epochs. Lines of several ranks run through each other and runs
follow each other in one file, and both look like an epoch that comes twice. So a line goes to the
latest lane into which it fits, or else opens a new one; lanes that overlap in the file are ranks
of one run, lanes that follow each other are runs.
"""

from dataclasses import dataclass, field

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import (
    EPOCH_NUMBERS,
    EpochNumbers,
    EpochPart,
    LineFacts,
    RunFacts,
)
from autograder.records import Number, Problem, Where

MOST_LANES = 5_000  # in one file; what comes after is left out, and said so
MOST_EPOCHS = 20_000  # in all lanes of a file
LOOK_BACK = 130  # lanes that a line may belong to: more ranks than this print with labels
MOST_PROBLEMS = 50


@dataclass(slots=True)
class EpochSoFar:
    """An epoch while it is put together."""

    line: int  # the last one with a number of the epoch, else its first one
    closed: bool = False  # its result was printed: what follows belongs to another epoch
    whole: bool = False  # it has come to its end
    steps: int | None = None  # of the whole epoch
    # The last step of training, of checking, or of what does not say which, that was printed.
    last_step: dict[EpochPart | None, float] = field(default_factory=dict)
    # None: printed and no number, as in the facts of a line.
    numbers: EpochNumbers = field(default_factory=dict)


@dataclass(slots=True)
class Lane:
    """One process's sequence of epochs, as far as it was read."""

    format: str
    label: int | None  # the rank that the launcher wrote before its lines
    first: int  # line numbers
    last: int
    base: int = 1  # the number of the first epoch as printed: 0 or 1
    current: int = 0  # the epoch that the last line was about, counted from 1
    of: int | None = None  # epochs asked for
    progress: float | None = None  # epochs done, with fractions, as the program counts them
    scaled: bool = False  # its accuracies are fractions of 1, whatever their values
    epochs: dict[int, EpochSoFar] = field(default_factory=dict)  # counted from 1
    run: RunFacts = field(default_factory=RunFacts)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Lanes:
    """All lanes of one file."""

    file: str
    # By format and label those that a line may still belong to, the latest last; and the others.
    open: dict[tuple[str, int | None], list[Lane]] = field(default_factory=dict)
    finished: list[Lane] = field(default_factory=list)
    count: int = 0  # of all lanes
    epochs: int = 0  # of all lanes
    left_out: int = 0  # lines that would have been too many


def add_line(all_: Lanes, reader: Reader, label: int | None, line: int, facts: LineFacts) -> None:
    """Put what a reader understood into the lane that it belongs to."""
    lanes = all_.open.setdefault((reader.after or reader.format, label), [])
    number = facts.number
    back = 2 if all_.left_out else LOOK_BACK
    lane = next((lane for lane in lanes[: -back - 1 : -1] if fits(lane, facts)), None)
    if lane is None:
        if number is None:
            return  # a result without an epoch: an evaluation outside of training
        if all_.count >= MOST_LANES or all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return
        all_.count += 1
        lane = Lane(reader.format, label, line, line, base=0 if number == 0 else 1)
        lanes.append(lane)
    elif lanes[-1] is not lane:  # latest last: ranks take turns, so the search stays short
        lanes.remove(lane)
        lanes.append(lane)
    lane.last = line
    if not facts.opens:
        lane.format = reader.format
    at = lane.current if number is None else number + 1 - lane.base
    epoch = lane.epochs.get(at)
    if epoch is None:
        if all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return
        all_.epochs += 1
        epoch = lane.epochs[at] = EpochSoFar(line)
    where = Where(all_.file, line)
    move_on(lane, at, facts)
    add_to_epoch(epoch, facts)
    if facts.numbers:
        add_numbers(lane, epoch, at, facts.numbers, where)
    if facts.run is not None:
        add_to_run(lane.run, facts.run, where)
        if facts.run.workers is not None:
            lane.run.workers = facts.run.workers
    if lane.of and lane.current >= lane.of and epoch.closed:
        lanes.remove(lane)
        all_.finished.append(lane)


def fits(lane: Lane, facts: LineFacts) -> bool:
    """Whether the lane's process may have printed this line after all its others."""
    number = facts.number
    at = lane.current if number is None else number + 1 - lane.base
    if at > lane.current:
        return True
    epoch = lane.epochs.get(at)
    if epoch is None or at < 1 or facts.opens:
        return False
    if facts.step is not None:
        if at < lane.current or epoch.closed:
            return False
        before = epoch.last_step.get(facts.part)
        return before is None or facts.step > before or (facts.step == before and facts.redraws)
    if facts.closes and (epoch.closed or at < lane.current):
        return False
    # What came from lines within an epoch may be replaced by its result, and nothing else may.
    if epoch.last_step and not epoch.closed:
        return True
    return epoch.numbers.keys().isdisjoint(facts.numbers)


def move_on(lane: Lane, at: int, facts: LineFacts) -> None:
    """The lane as it stands after a line about one of its epochs."""
    if at > lane.current:
        before = lane.epochs.get(lane.current)
        if before is not None:  # the next one has begun
            before.whole = True
        lane.current = at
    if facts.scaled:
        lane.scaled = True
    if facts.of is not None:
        lane.of = facts.of + (1 - lane.base if facts.opens else 0)  # "0/24" is of 25
    if facts.progress is not None:
        lane.progress = facts.progress


def add_to_epoch(epoch: EpochSoFar, facts: LineFacts) -> None:
    if facts.step is not None:
        epoch.last_step[facts.part] = facts.step
    elif not facts.opens:
        epoch.whole = True
    if facts.closes:
        epoch.closed = epoch.whole = True
    if facts.whole:
        epoch.whole = True
    if facts.steps is not None:
        epoch.steps = facts.steps


def add_numbers(
    lane: Lane,
    epoch: EpochSoFar,
    at: int,
    numbers: EpochNumbers,
    where: Where,
) -> None:
    epoch.line = where.line
    for name in EPOCH_NUMBERS:
        if name in numbers:
            number = numbers[name]
            epoch.numbers[name] = number and placed(number, where)
            if number is None and len(lane.problems) < MOST_PROBLEMS:
                kind = name.replace("_", " ")
                reason = f"{kind} of epoch {at} is no number: the training diverged"
                lane.problems.append(Problem(where, name, reason))


def add_to_run(known: RunFacts, more: RunFacts, where: Where) -> None:
    """Add to what is known of a run what one more line says of it; the last line counts. Of how
    many workers it speaks is for the caller to judge."""
    for name, number in more.numbers.items():
        if number is not None:
            known.numbers[name] = placed(number, where)
    known.done = known.done or more.done
    known.early = known.early or more.early


def placed(number: Number, where: Where) -> Number:
    return Number(number.value, number.half_width, where)
