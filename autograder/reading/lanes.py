"""Sort the facts of lines into lanes, which separate the ranks and runs in a file.

A lane is one process's sequence of epochs. In a file, lines of several ranks are mixed, and several
runs follow each other. With several ranks or several runs, the same epoch seems to appear twice. A
line therefore goes to the latest lane that it fits, or opens a new one. Lanes that overlap in the
file are ranks of one run; lanes that follow each other are separate runs.
"""

from dataclasses import dataclass, field

from autograder.codes import ProblemCode
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import (
    EPOCH_NUMBERS,
    EpochNumber,
    EpochNumbers,
    EpochPart,
    LineFacts,
    RunFacts,
)
from autograder.reading.printed_numbers import placed
from autograder.reading.stamps import Stamp
from autograder.records import Number, Problem, Where

MOST_LANES = 5_000  # per file; the rest is left out, and a problem says so
MOST_EPOCHS = 20_000  # maximum in all lanes of a file
MOST_PROBLEMS = 50
MOST_RATES = 2_000  # per epoch


@dataclass(slots=True)
class EpochSoFar:
    """An epoch that is still being read."""

    line: int  # its last line with a number, otherwise its first line
    begun: int = 0  # its first line
    closed: bool = False  # whether its result was printed: what follows belongs to another epoch
    whole: bool = False  # whether it has ended
    result: bool = False  # whether a result follows its last step
    steps: int | None = None  # number of steps of the whole epoch
    # The last printed step, of training, of validation, or of either if the line does not say
    # which.
    last_step: dict[EpochPart | None, float] = field(default_factory=dict)
    # None: printed, but not a number, as in LineFacts.
    numbers: EpochNumbers = field(default_factory=dict)
    loose: set[EpochNumber] = field(default_factory=set)  # numbers from lines without an epoch
    rates: list[Number] = field(default_factory=list)  # samples per second, of its parts
    said: tuple[EpochNumber, ...] = ()  # values on the line of its last step
    opened: Stamp | None = None  # when it began, by the log
    told: Stamp | None = None  # when its result was printed, by the log


@dataclass(slots=True)
class Lane:
    """The epochs read so far from one process, in order."""

    format: str
    label: int | None  # the rank in the launcher's label
    first: int  # line numbers
    last: int
    base: int = 1  # the first printed number: 0 or 1
    current: int = 0  # the epoch of the last line, counted from 1
    of: int | None = None  # number of epochs that were requested
    headed: int | None = None  # the same, from headings
    progress: float | None = None  # finished epochs, with fractions, as the program counts them
    scaled: bool = False  # whether accuracies are fractions of 1, whatever their values
    epochs: dict[int, EpochSoFar] = field(default_factory=dict)  # keys count from 1
    # The part of the epoch that lines below the last heading are about.
    part: EpochPart | None = None
    heading: int = 0  # line of the last heading
    words: str = ""  # its first line, with the numbers removed
    run: RunFacts = field(default_factory=RunFacts)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Lanes:
    """All lanes of a file."""

    file: str
    # Lanes that a line may still belong to, by format and label, the latest last; then all others.
    open: dict[tuple[str, int | None], list[Lane]] = field(default_factory=dict)
    finished: list[Lane] = field(default_factory=list)
    count: int = 0  # number of all lanes
    epochs: int = 0  # number of epochs in all lanes
    left_out: int = 0  # lines beyond the limits


def add_to_lane(
    all_: Lanes, lanes: list[Lane], lane: Lane, reader: Reader, line: int, facts: LineFacts
) -> bool:
    number = facts.number
    if lanes[-1] is not lane:  # latest last: ranks take turns, so the search stays short
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
            return False
        all_.epochs += 1
        epoch = lane.epochs[at] = EpochSoFar(line, begun=line)
    where = Where(all_.file, line)
    move_on(lane, at, facts)
    if facts.opens:
        lane.headed = facts.of
        lane.part, lane.heading = facts.part, line
    add_to_epoch(epoch, facts)
    if facts.rates and (rate := facts.numbers.pop("throughput", None)) is not None:
        epoch.line = line
        if len(epoch.rates) < MOST_RATES:
            epoch.rates.append(placed(rate, where))
    if facts.numbers:
        add_numbers(lane, at, facts.numbers, where)
    if facts.run is not None:
        add_to_run(lane.run, facts.run, where)
        if facts.run.workers is not None:
            lane.run.workers = facts.run.workers
    if lane.of and lane.current >= lane.of and epoch.closed:
        lanes.remove(lane)
        all_.finished.append(lane)
    return True


def fits(lane: Lane, facts: LineFacts) -> bool:
    """Return whether the lane's process may have printed this line after its earlier lines."""
    number = facts.number
    at = lane.current if number is None else number + 1 - lane.base
    if at > lane.current:
        # "Epoch 1/2" does not follow "Epoch 0/1": a run that counts differently began.
        return not facts.opens or None in (lane.headed, facts.of) or lane.headed == facts.of
    epoch = lane.epochs.get(at)
    if epoch is None or at < 1 or facts.opens:
        return False
    if facts.step is not None:
        if at < lane.current or epoch.closed:
            return False
        before = epoch.last_step.get(facts.part)
        if before is None or facts.step > before:
            return True
        # A validation may be printed for the same step. A repeated value comes from another rank.
        return facts.step == before and (facts.redraws or epoch.said != tuple(facts.numbers))
    if facts.closes and (epoch.closed or at < lane.current):
        return False
    # Values from lines within an epoch can be replaced by its result. Other values cannot, and
    # nothing can be replaced once the next epoch has begun.
    if epoch.last_step and not epoch.closed and not epoch.result and at == lane.current:
        return True
    return epoch.numbers.keys().isdisjoint(facts.numbers)


def move_on(lane: Lane, at: int, facts: LineFacts) -> None:
    if at > lane.current:
        before = lane.epochs.get(lane.current)
        if before is not None:  # the next one has begun
            before.whole = True
        lane.current = at
    if facts.scaled:
        lane.scaled = True
    if facts.of is not None:
        lane.of = facts.of + (1 - lane.base if facts.opens else 0)  # "0/24" has 25 epochs
    if facts.progress is not None:
        lane.progress = facts.progress


def add_to_epoch(epoch: EpochSoFar, facts: LineFacts) -> None:
    if facts.step is not None:
        if epoch.result and facts.part in epoch.last_step:
            epoch.whole = False  # its steps continue: the result was an intermediate one
        epoch.last_step[facts.part] = facts.step
        epoch.said = tuple(facts.numbers)
        epoch.result = False
    elif not facts.opens and not facts.loose:
        epoch.whole = epoch.result = True
    if facts.closes:
        epoch.closed = epoch.whole = True
    if facts.whole:
        epoch.whole = True
    if facts.steps is not None:
        epoch.steps = facts.steps
    if facts.loose and facts.step is None:
        epoch.loose.update(facts.numbers)
    if facts.stamp is not None:
        if facts.opens:
            epoch.opened = epoch.opened or facts.stamp
        elif facts.step is None:
            epoch.told = facts.stamp


def add_numbers(lane: Lane, at: int, numbers: EpochNumbers, where: Where) -> None:
    epoch = lane.epochs[at]
    epoch.line = where.line
    for name in EPOCH_NUMBERS:
        if name in numbers:
            number = numbers[name]
            epoch.numbers[name] = number and placed(number, where)
            if number is None and len(lane.problems) < MOST_PROBLEMS:
                kind = name.replace("_", " ")
                reason = f"{kind} of epoch {at} is not a number: the training diverged"
                lane.problems.append(Problem(where, name, reason, ProblemCode.DIVERGED))


def add_to_run(known: RunFacts, more: RunFacts, where: Where) -> None:
    """Add the facts of one more line to those of a run. The last line counts.

    The caller decides which number of workers a line is about.
    """
    for name, number in more.numbers.items():
        if number is not None:
            known.numbers[name] = placed(number, where)
    known.done = known.done or more.done
    known.early = known.early or more.early
