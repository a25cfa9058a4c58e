"""Sort the facts of printed lines into lanes.

A lane is one process's sequence of epochs in one run. Launchers' labels say which rank printed a
line. Without labels, lines of several ranks cannot be told apart. They are noticed, because a
process's own lines go forward: a line that goes back, but not to where the run before it began, is
another process's. Nothing of such an output is read.
"""

from dataclasses import dataclass, field

from autograder.notes import Note
from autograder.reading.line_facts import EpochNumber, EpochNumbers, LineFacts, Reader, make_problem
from autograder.reading.printed_numbers import placed
from autograder.records import Where

MOST_LANES, MOST_EPOCHS = 2_000, 20_000  # per file; the rest is left out, and a problem says so
MOST_PROBLEMS = 50


@dataclass(slots=True)
class EpochSoFar:
    """An epoch that is still being read."""

    line: int  # its last line with a number, otherwise its first line
    begun: int  # its first line
    opened: bool = False  # whether a heading began it
    answered: bool = False  # whether a result followed its heading
    closed: bool = False  # whether its last line was printed: what follows is no part of it
    whole: bool = False  # whether it has ended
    step: int | None = None  # the last one
    steps: int | None = None  # number of steps of the whole epoch
    # None: printed, but not a number, as in LineFacts.
    numbers: EpochNumbers = field(default_factory=dict)
    running: set[EpochNumber] = field(default_factory=set)  # numbers of a step, not of the epoch


@dataclass(slots=True)
class Lane:
    """The epochs read so far from one process, in order."""

    format: str
    label: int | None  # the rank in the launcher's label
    first: int  # line numbers
    last: int
    begin: LineFacts  # its first line
    base: int = 1  # the first printed number: 0 or 1
    current: int = 0  # the epoch of the last line, counted from 1
    of: int | None = None  # number of epochs that were requested
    extra: int = 0  # results that belong to no epoch
    scaled: bool = False  # whether accuracies are fractions of 1, whatever their values
    epochs: dict[int, EpochSoFar] = field(default_factory=dict)  # keys count from 1
    problems: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class LaneRow:
    """The lanes of one rank, or of all lines without a label, in one format."""

    lanes: list[Lane] = field(default_factory=list)
    has_numbers: bool = False
    mixed: int = 0  # a line that shows that several processes printed these; 0: there is none

    def seems_mixed(self) -> bool:
        """Return whether several processes may have printed these lines.

        Runs of one program are followed by equally many evaluations, but for those that were cut
        off. A program that trains several times may evaluate less often.
        """
        extra = [lane.extra for lane in self.lanes if lane.of is None or lane.current >= lane.of]
        uneven = len(set(extra[:-1])) > 1 or extra[-1:] > extra[:1]
        fewer = sum(extra) < len(extra) and min(lane.current for lane in self.lanes) > 1
        return self.mixed > 0 or (uneven and not fewer)


@dataclass(slots=True)
class Lanes:
    """All lanes of a file."""

    rows: dict[tuple[str, int | None], LaneRow] = field(default_factory=dict)
    lanes: int = 0
    epochs: int = 0
    left_out: int = 0  # lines beyond the limits


def add_line(
    all_: Lanes, reader: Reader, label: int | None, where: Where, facts: LineFacts
) -> None:
    """Add a line's facts to the lane to which they belong, if there is one."""
    if all_.left_out:
        all_.left_out += 1
        return
    row = all_.rows.setdefault((reader.format, label), LaneRow())
    lane = row.lanes[-1] if row.lanes else None
    if facts.number is None:
        if lane is not None and continues(lane, lane.current, facts):
            add_to_lane(all_, row, lane, where, facts)
        elif lane is not None:  # another process's, or an evaluation outside training
            lane.extra += 1
            if lane.of is not None and lane.current < lane.of:
                row.mixed = row.mixed or where.line
        return
    if lane is None or not goes_on(lane, facts):
        if lane is not None and not begins_anew(lane, facts):
            row.mixed = row.mixed or where.line
        if row.mixed or all_.lanes >= MOST_LANES or all_.epochs >= MOST_EPOCHS:
            all_.left_out += not row.mixed
            return
        all_.lanes += 1
        base = 0 if facts.number == 0 else 1
        lane = Lane(reader.format, label, where.line, where.line, facts, base)
        row.lanes.append(lane)
    add_to_lane(all_, row, lane, where, facts)


def goes_on(lane: Lane, facts: LineFacts) -> bool:
    """Return whether the lane's process may have printed this line after its earlier lines."""
    at = (facts.number or 0) + 1 - lane.base
    if at > lane.current:
        return True
    epoch = lane.epochs.get(at)
    if epoch is None or at < 1:
        return False
    return not facts.opens and continues(lane, at, facts)


def continues(lane: Lane, at: int, facts: LineFacts) -> bool:
    """Return whether a line may be one more of this epoch's."""
    epoch = lane.epochs[at]
    if facts.step is not None:
        again = facts.step == epoch.step and epoch.numbers.keys().isdisjoint(facts.numbers)
        ahead = again or epoch.step is None or facts.step > epoch.step
        return ahead and at == lane.current and not epoch.closed
    if facts.closes and (epoch.closed or at < lane.current):
        return False
    if epoch.closed and facts.number is None:
        return False
    return (epoch.numbers.keys() - epoch.running).isdisjoint(facts.numbers)


def begins_anew(lane: Lane, facts: LineFacts) -> bool:
    """Return whether the line can begin another run.

    It is where the lane's own run began, or the heading of a program with another number of epochs.
    """
    begin, latest = lane.begin, lane.epochs[lane.current]
    if begin.opens and facts.opens and begin.of != facts.of:
        return facts.number in (0, 1)
    # The same heading twice may be another process's.
    again = lane.current == 1 and latest.opened and not (latest.numbers or latest.answered)
    if again or begin.opens != facts.opens or begin.number != facts.number:
        return False
    return begin.step is None or (facts.step is not None and facts.step <= begin.step)


def add_to_lane(all_: Lanes, row: LaneRow, lane: Lane, where: Where, facts: LineFacts) -> None:
    at = lane.current if facts.number is None else facts.number + 1 - lane.base
    epoch = lane.epochs.get(at)
    if epoch is None:
        if all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return
        all_.epochs += 1
        epoch = lane.epochs[at] = EpochSoFar(where.line, where.line)
    if at > lane.current:
        if before := lane.epochs.get(lane.current):
            before.whole = True  # the next one has begun
            waits = before.opened and not before.answered and not before.numbers
            waits = waits or at > lane.current + 1
            if (facts.opens and waits and row.has_numbers) or lane.extra:
                row.mixed = row.mixed or where.line  # the training goes on, or a result is to come
        lane.current = at
    lane.last = where.line
    lane.scaled = lane.scaled or facts.scaled
    if facts.of is not None:
        lane.of = facts.of + (1 - lane.base if facts.opens else 0)  # "0/24" has 25 epochs
    if facts.steps is not None:
        epoch.steps = facts.steps
    if facts.opens:
        epoch.opened = True
    elif facts.step is not None:
        epoch.step, epoch.whole = facts.step, False
        epoch.running |= facts.numbers.keys()
    else:
        epoch.whole, epoch.closed = True, epoch.closed or facts.closes
        epoch.running -= facts.numbers.keys()
        epoch.answered = True
    for name, number in facts.numbers.items():
        row.has_numbers, epoch.line = True, where.line
        epoch.numbers[name] = number and placed(number, where)
        if number is None and len(lane.problems) < MOST_PROBLEMS:
            reason = (
                f"{name.replace('_', ' ')} of epoch {at} is not a number: the training diverged"
            )
            lane.problems.append(make_problem(where, name, reason))
