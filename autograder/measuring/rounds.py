"""Measure a speed job's rounds in one launch: rank 0 alone, all ranks silent, all together.

Other load on the machine affects the three phases of a round equally, so they are compared only
within their round. The result is the median over the rounds, and its interval is their range.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact, middle
from autograder.reading.printed_numbers import count
from autograder.records import MeasureEvent, Run
from autograder.wording import counted

NAME = "round"  # its name in the record's measures
PIPELINE = "pipeline_round"  # the same, where ranks share one network when together
LEAST = 3
AS_WRITTEN = "submit the output as the job wrote it"


@dataclass(frozen=True, slots=True)
class Round:
    """The seconds of the three phases, each with the same number of steps on every rank."""

    number: int
    alone: float
    silent: float
    together: float
    event: MeasureEvent


def rounds(run: Run, name: str = NAME) -> list[Round]:
    """Return all rounds in order.

    Raise NotMeasured if a round is damaged or copied, or if there are too few rounds.
    """
    by_number: dict[int, Round] = {}
    numbers: dict[tuple[float, ...], int] = {}  # by seconds
    for event in run.measured(name):
        number, seconds = measure.whole(event.facts.get("round")), seconds_of_phases(event)
        fault = ""
        if number is None or seconds is None:
            fault = "a round has no number, or one of its three times is missing or not above 0"
        elif number in by_number:
            fault = f"round {number} appears twice"
        elif (first := numbers.setdefault(seconds, number)) != number:
            fault = f"rounds {first} and {number} have the same seconds"
        else:
            by_number[number] = Round(number, *seconds, event)
        if fault:
            raise NotMeasured(fault, AS_WRITTEN, [event.where])
    if len(by_number) < LEAST:
        reason = f"the run measured {counted(len(by_number), 'round')}, of at least {LEAST}"
        raise NotMeasured(reason, f"submit a speed job's output, with at least {LEAST} rounds")
    return list(by_number.values())


def seconds_of_phases(event: MeasureEvent) -> tuple[float, float, float] | None:
    """Return the seconds of the three phases, or None if any is missing or not positive."""
    seconds = (event.number("alone_s"), event.number("silent_s"), event.value)
    alone, silent, together = (float(each or 0.0) for each in seconds)
    usable = all(1e-9 < each < 1e9 for each in (alone, silent, together))
    return (alone, silent, together) if usable else None


def ranks_of(run: Run) -> int:
    count = measure.known_workers(run)
    if count < 2:
        raise NotMeasured("a single rank cannot be compared with others", "start two or more ranks")
    return count


def _over_rounds(
    gain: Callable[[Round, int], float], names: Sequence[str] = (NAME,)
) -> Callable[[Run], Measure]:
    def typical(run: Run) -> Measure:
        name = next((name for name in names if run.measured(name)), NAME)
        measured, count = rounds(run, name), ranks_of(run)
        values = [exact(gain(each, count), "", [each.event.where]) for each in measured]
        return middle(values, f"median of {len(values)} rounds")

    return typical


# In one phase, N ranks together process N times as many batches as a single rank.
speedup = _over_rounds(lambda round, count: count * round.alone / round.together)
share = _over_rounds(lambda round, count: round.silent / round.together)
ceiling = _over_rounds(lambda round, count: count * round.alone / round.silent, (NAME, PIPELINE))


def how_many(run: Run) -> Measure:
    measured = rounds(run)
    return exact(len(measured), "rounds", [measured[0].event.where])


def worst_over_rounds(name: str, choose: Callable) -> Callable[[Run], Measure]:
    """Return a function that finds the largest or smallest value among the rounds."""
    return lambda run: worst([each.event for each in rounds(run)], name, choose)


def worst(events: Sequence[MeasureEvent], name: str, choose: Callable) -> Measure:
    """Return the largest or smallest value that the events report under this name."""
    for event in events:
        stated = event.number(name)
        if stated is None or stated < 0:
            reason = f"round {event.facts['round']} has no number for `{name}`"
            raise NotMeasured(reason, "check whether the training diverged", [event.where])
    event = choose(events, key=lambda event: event.number(name))
    # A point of a scaling study also states its number of ranks.
    ranks = count(event.facts.get("ranks"))
    on_ranks = f" on {counted(ranks, 'rank')}" if ranks else ""
    return exact(event.facts[name], "", [event.where], f"round {event.facts['round']}{on_ranks}")


def in_words(run: Run) -> str:
    """Return the result of a speed job in one line."""
    gain, part = speedup(run), share(run)
    return (
        f"Speedup on {ranks_of(run)} ranks {gain.value:.2f} ({gain.low:.2f} … {gain.high:.2f}), "
        f"{part.value:.2f} of what this machine can give"
    )
