"""Measure a speed job's rounds in one launch: rank 0 alone, all ranks silent, all together.

Other load on the machine affects the three phases of a round equally, so they are compared only
within their round. The result is the median over the rounds, and its interval is their range.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.measuring import interval, measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.records import MeasureEvent, Run, Where

NAME = "round"  # its name in the record's measures
PIPELINE = "pipeline_round"  # in lesson 11, where ranks share one network when together
LEAST = 3
RUN_IT = "submit job_speed.sbatch, with at least three rounds"


@dataclass(frozen=True, slots=True)
class Round:
    """The seconds of the three phases, each with the same number of steps on every rank."""

    number: int
    alone: float
    silent: float
    together: float
    event: MeasureEvent
    where: tuple[Where, ...] = ()

    @property
    def seconds(self) -> tuple[float, float, float]:
        return self.alone, self.silent, self.together


def rounds(run: Run, name: str = NAME) -> list[Round]:
    """Return all rounds in order.

    Raise NotMeasured if a round is damaged or copied, or if there are too few rounds.
    """
    found: list[Round] = []
    numbers: dict[tuple[float, ...], int] = {}
    for event in run.measured(name):
        current = _round(event)
        if current.number in numbers.values():
            raise copied(f"round {current.number} appears twice", current)
        if (first := numbers.setdefault(current.seconds, current.number)) != current.number:
            raise copied(f"rounds {first} and {current.number} have the same seconds", current)
        found.append(current)
    if len(found) < LEAST:
        counted = "1 round" if len(found) == 1 else f"{len(found)} rounds"
        raise NotMeasured(f"the run measured {counted}, of at least {LEAST}", RUN_IT)
    return found


def has_rounds(run: Run) -> bool:
    return any(event.name == NAME for event in run.measures)


def copied(reason: str, current: Round) -> NotMeasured:
    return NotMeasured(reason, "submit the output as the job wrote it", current.where)


def seconds_of_phases(event: MeasureEvent) -> tuple[float, float, float] | None:
    """Return the seconds of the three phases, or None if any is missing or not positive."""
    alone, silent, together = event.number("alone_s"), event.number("silent_s"), event.value
    if alone is None or silent is None or together is None:
        return None
    seconds = (float(alone), float(silent), float(together))
    return seconds if all(1e-9 < each < 1e9 for each in seconds) else None


def _round(event: MeasureEvent) -> Round:
    places = (event.where,) if event.where else ()
    number = measure.whole(event.facts.get("round"))
    seconds = seconds_of_phases(event)
    if number is None or seconds is None:
        reason = "a round has no number, or one of its three times is missing or not above 0"
        raise NotMeasured(reason, "submit the output as the job wrote it", places)
    return Round(number, seconds[0], seconds[1], seconds[2], event, places)


def ranks_of(run: Run) -> int:
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("the output does not report how many ranks took part")
    if count < 2:
        raise NotMeasured("a single rank cannot be compared with others", "start two or more ranks")
    return count


def _over_rounds(
    gain: Callable[[Round, int], float], names: Sequence[str] = (NAME,)
) -> Callable[[Run], Measure]:
    def typical(run: Run) -> Measure:
        name = next((name for name in names if run.measured(name)), NAME)
        found, count = rounds(run, name), ranks_of(run)
        values = [exact(gain(one, count), "", one.where) for one in found]
        return interval.middle(values, f"median of {len(values)} rounds")

    return typical


# In one phase, a single rank processes `steps` batches, and N ranks together process N times as
# many.
speedup = _over_rounds(lambda one, count: count * one.alone / one.together)
share = _over_rounds(lambda one, count: one.silent / one.together)
ceiling = _over_rounds(lambda one, count: count * one.alone / one.silent, (NAME, PIPELINE))


def how_many(run: Run) -> Measure:
    counted = rounds(run)
    return exact(len(counted), "rounds", counted[0].where)


def worst_over_rounds(name: str, choose: Callable) -> Callable[[Run], Measure]:
    """Return a function that finds the largest or smallest value among the rounds."""

    def value(run: Run) -> Measure:
        events = [one.event for one in rounds(run)]
        return worst(events, name, choose, lambda event: f"round {event.facts['round']}")

    return value


def worst(events: Sequence[MeasureEvent], name: str, choose: Callable, title: Callable) -> Measure:
    """Return the largest or smallest value that the events report under this name."""
    values = []
    for event in events:
        stated, where = event.number(name), (event.where,) if event.where else ()
        if stated is None or stated < 0:
            reason = f"round {event.facts['round']} has no number for `{name}`"
            raise NotMeasured(reason, "check whether the training diverged", where)
        values.append((stated, where, title(event)))
    value, where, basis = choose(values, key=lambda triple: triple[0])
    return exact(value, "", where, basis)


def in_words(run: Run) -> str:
    """Return the result of a speed job in one line."""
    gain, part = speedup(run), share(run)
    return (
        f"Speedup on {ranks_of(run)} ranks {gain.value:.2f} ({gain.low:.2f} … {gain.high:.2f}), "
        f"{part.value:.2f} of what this machine can give"
    )
