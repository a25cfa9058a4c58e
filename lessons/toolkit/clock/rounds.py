"""Run the rounds of a speed job: plan, measure and record them, and recompute some updates."""

import random
import secrets
import statistics
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.turns import Phase, Times, Turns

EXACT = 0.02  # standard error of the share at which the rounds end
COMPUTED_AGAIN = 3  # number of rounds


State = tuple[list[float], Any]  # as Turns.state returns it


@dataclass(frozen=True)
class Round:
    plan: Any  # see `planned`
    times: dict[str, Times]  # of each phase, by name
    # The largest change in a parameter, for the rank and phase in which it is smallest.
    moved: float


class Kind(Protocol):
    """Describe a lesson's rounds to the clock. data_parallel.py and stages/rounds.py do so."""

    code: str  # the student's file, for messages
    again: str  # the measure of a phase that was computed again
    worst: str  # the measure of the worst of them
    least: int  # rounds, if the user does not ask for fewer
    warm_up: int  # steps
    state: int  # arrays that rank 0 needs to compute a phase again

    def facts(self, args: Any, size: int) -> dict[str, Any]:
        """Return facts for the record's header."""

    def phases(self, args: Any) -> list[Phase]:
        """Return the phases of a round."""

    def check(self, hub: Hub, turns: Turns) -> None:
        """Raise FailedError if the learners' networks are not the lesson's."""

    def shares(self, rounds: list[Round], size: int) -> list[float]:
        """Return each round's speed as a fraction of the silent ranks' speed."""

    def write(self, record: Any, hub: Hub, rounds: list[Round], args: Any, params: Any) -> None:
        """Write the lines of the last of these rounds. params: this rank's at the end of it."""

    def error(self, hub: Hub, turns: Turns, plan: Any, before: State, params: Any) -> float:
        """Compute the drawn phase again and return the learners' error, on rank 0 at least.

        before: this rank's state before the phase. params: this rank's parameters after it.
        """

    def end(self, record: Any, hub: Hub, turns: Turns, rounds: list[Round], params: Any) -> Any:
        """Write the lines after the last round, and return the record's last facts."""


def measure(record: Any, hub: Hub, turns: Turns, args: Any, kind: Kind) -> Any:
    """Measure rounds until their median is exact enough. All ranks call this.

    Return the record's last facts.
    """
    chance = random.Random(secrets.randbits(64))  # of rank 0, which decides everything
    first = min(kind.least, args.rounds)
    checked = set(chance.sample(range(1, first + 1), min(COMPUTED_AGAIN, first)))
    phases = {phase.name: phase for phase in kind.phases(args)}
    kind.check(hub, turns)
    for phase in phases.values():
        if phase.everywhere:
            turns.measure(phase, hub.share(two_seeds(chance)), kind.warm_up)
    arrays = kind.state if hub.rank == 0 else 1
    state = turns.state(arrays)
    rounds: list[Round] = []
    errors: list[float] = []
    for number in range(1, args.rounds + 1):
        enough = number > kind.least and exact(kind.shares(rounds, hub.size))
        if hub.share(enough):
            break
        plan = hub.share(planned(chance, list(phases.values()), args.steps))
        made, step, state = one_round(turns, phases, plan, state, arrays)
        rounds.append(made)
        kind.write(record, hub, rounds, args, params_of(turns, state))
        if hub.share(number in checked):
            errors.append(hub.share(kind.error(hub, turns, plan, *step)))
            record.measure(kind.again, errors[-1], "", round=number)
    record.measure(kind.worst, float(np.max(errors)), "", rounds=len(errors))
    return kind.end(record, hub, turns, rounds, params_of(turns, state))


def one_round(
    turns: Turns, phases: dict[str, Phase], plan: Any, state: State, arrays: int
) -> tuple[Round, tuple[State, Any], State]:
    """Measure the phases of a round, and ask for the learner's state after each of its phases.

    Return the measurements, the state before the drawn phase and the parameters after it, and the
    state at the end. state: the one at the start of the round.
    """
    times: dict[str, Times] = {}
    moved: list[float] = []
    for name in plan["order"]:
        times[name] = turns.measure(phases[name], plan["seeds"][name], plan["steps"])
        if phases[name].who == "learner":
            before, state = state, turns.state(arrays)
            old, new = params_of(turns, before), params_of(turns, state)
            turns.late(times[name], plan["seeds"][name][1], new)
            moved.append(float(np.abs(new - old).max()))
            if name == plan["drawn"]:
                step = before, new
    least = float(np.min(turns.hub.gather(float(np.min(moved)))))  # NaN if one of them is NaN
    return Round(plan, times, least), step, state


def params_of(turns: Turns, state: State) -> Any:
    return state[1][: turns.sizes["learner"]]


def two_seeds(chance: random.Random) -> list[int]:
    """Return two seeds for a phase: for its batches, and for the parameters to send at its end."""
    return [chance.getrandbits(40), chance.getrandbits(40)]


def planned(chance: random.Random, phases: list[Phase], steps: int) -> dict[str, Any]:
    """Randomly choose a round's order, seeds and number of steps, and a phase to recompute."""
    names = [phase.name for phase in phases]
    return {
        "order": chance.sample(names, len(names)),
        "seeds": {name: two_seeds(chance) for name in names},
        "steps": chance.randint(steps - steps // 2, steps + steps // 2),
        "drawn": chance.choice([phase.name for phase in phases if phase.who == "learner"]),
    }


def exact(shares: list[float]) -> bool:
    """Return whether the standard error of the rounds' median is small enough."""
    middle = statistics.median(shares)
    # Robust: 1.48 times the median deviation is a normal distribution's standard deviation, and
    # the median's error is 1.25 times that of the mean.
    deviation = 1.48 * statistics.median(abs(share - middle) for share in shares)
    return 1.25 * deviation / len(shares) ** 0.5 <= EXACT
