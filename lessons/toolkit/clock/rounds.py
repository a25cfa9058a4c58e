"""Run the rounds of a speed job: plan, measure and record them, and recompute some updates."""

import hashlib
import random
import secrets
import statistics
from typing import Any

import numpy as np

from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.turns import PHASES, Phase, Turns

LEAST = 10  # rounds, if the user does not ask for fewer
EXACT = 0.02  # standard error of the share at which the rounds end
COMPUTED_AGAIN = 3  # number of rounds
WARM_UP = 2  # steps
STATE = 3  # arrays: the parameters and Adam's two moments


def measure(record: Any, hub: Hub, turns: Turns, args: Any) -> tuple[Any, float]:
    """Measure rounds until their median is exact enough. All ranks call this.

    Return this rank's parameters at the end, and their spread over the ranks.
    """
    chance = random.Random(secrets.randbits(64))  # of rank 0, which decides everything
    first = min(LEAST, args.rounds)
    checked = set(chance.sample(range(1, first + 1), min(COMPUTED_AGAIN, first)))
    for name in ("silent", "together"):
        turns.phase(name, hub.share(two_seeds(chance)), WARM_UP)
    kept = turns.state(STATE if hub.rank == 0 else 1)
    shares: list[float] = []
    errors: list[float] = []
    spread = 0.0
    for number in range(1, args.rounds + 1):
        if not hub.share(number == 1 or not exact(shares)):
            break
        plan = hub.share(planned(chance, args.steps))
        found = {
            name: turns.phase(name, plan["seeds"][name], plan["steps"]) for name in plan["order"]
        }
        before, kept = kept, turns.state(STATE if hub.rank == 0 else 1)
        old, new = (params_of(hub, state[1]) for state in (before, kept))
        turns.late(found["together"], plan["seeds"]["together"][1], new)
        moved = min(hub.gather(float(np.abs(new - old).max())))
        spread = spread_of(hub, new)
        say(record, number, found, plan, args, moved, spread)
        shares.append(found["silent"].seconds / found["together"].seconds)
        if hub.share(number in checked):
            errors.append(error_of(hub, turns, plan, before, new))
            record.measure("update_computed_again", errors[-1], "", round=number)
    record.measure("update_error", max(errors), "", rounds=len(errors))
    return params_of(hub, kept[1]), spread


def two_seeds(chance: random.Random) -> list[int]:
    """Return two seeds for a phase: for its batches, and for the parameters to send at its end."""
    return [chance.getrandbits(40), chance.getrandbits(40)]


def planned(chance: random.Random, steps: int) -> dict[str, Any]:
    """Randomly choose the order of a round's phases, their seeds and the number of steps."""
    return {
        "order": chance.sample(PHASES, len(PHASES)),
        "seeds": {name: two_seeds(chance) for name in PHASES},
        "steps": chance.randint(steps - steps // 2, steps + steps // 2),
    }


def exact(shares: list[float]) -> bool:
    """Return whether the standard error of the rounds' median is small enough."""
    if len(shares) < LEAST:
        return False
    middle = statistics.median(shares)
    # Robust: 1.48 times the median deviation is a normal distribution's standard deviation, and
    # the median's error is 1.25 times that of the mean.
    deviation = 1.48 * statistics.median(abs(share - middle) for share in shares)
    return 1.25 * deviation / len(shares) ** 0.5 <= EXACT


def params_of(hub: Hub, state: Any) -> Any:
    return np.split(state, STATE)[0] if hub.rank == 0 else state


def say(
    record: Any, number: int, found: dict[str, Phase], plan: Any, args: Any, *ends: float
) -> None:
    """Write the line of a round."""
    cpu = {f"{name}_cpu_s": found[name].cpu_s for name in PHASES}
    record.measure(
        "round",
        found["together"].seconds,
        "s",
        round=number,
        alone_s=found["alone"].seconds,
        silent_s=found["silent"].seconds,
        steps=plan["steps"],
        samples=args.batch_size,
        moved=ends[0],
        spread=ends[1],
        **cpu,
        silent_cores=found["silent"].cores,
        together_cores=found["together"].cores,
        seed=plan["seeds"]["together"][0],
    )


def spread_of(hub: Hub, params: Any) -> float:
    """Return the largest difference between two ranks in any parameter; NaN if one is NaN."""
    finite, digest = bool(np.isfinite(params).all()), hashlib.blake2b(params).hexdigest()
    found = hub.gather([finite, digest])
    if not all(each for each, _ in found):
        return float("nan")
    if len({digest for _, digest in found}) == 1:
        return 0.0
    every = hub.arrays(params)
    return float(hub.share(float(np.ptp(every, axis=0).max()) if every else None))


def error_of(hub: Hub, turns: Turns, plan: Any, before: tuple[Any, Any], after: Any) -> float:
    """Recompute a round's update from the mean of all ranks' gradients, and return its error.

    The yardsticks start from rank 0's parameters and moments before the round, and compute
    gradients on the same batches. The error is relative to how far the parameters moved.
    """
    turns.give_turn("yardstick")
    adam = hub.share(before[0])
    start = hub.share_array(before[1])
    turns.ask("yardstick", "load", adam, numbers=start)
    turns.ask("yardstick", "batches", plan["seeds"]["together"][0] + hub.rank, plan["steps"])
    for _ in range(plan["steps"]):
        mean = hub.mean(turns.ask("yardstick", "gradient")[1])
        turns.ask("yardstick", "apply", numbers=mean)
    right = turns.ask("yardstick", "state", 1)[1]
    start = np.split(start, STATE)[0]
    way = float(np.linalg.norm(right - start))
    return float(hub.share(float(np.linalg.norm(after - right)) / way if way > 0 else 1.0))
