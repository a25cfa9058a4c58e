"""The rounds of lessons 07 and 10: the student's code averages the gradients of all ranks.

In one phase of a round, rank 0 works *alone*. In another, all ranks do the same and exchange
nothing (*silent*). In the third, they work *together*, each on its own batches.
"""

import hashlib
from typing import Any

import numpy as np

from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.rounds import Round, State
from lessons.toolkit.clock.turns import ALONE, SILENT, Phase, Turns
from lessons.toolkit.clock.workers import FailedError

PHASES = [ALONE, SILENT, Phase("together", "learner")]


class DataParallel:
    """See rounds.Kind."""

    code, again, worst = "train.py", "update_computed_again", "update_error"
    least, warm_up = 10, 2
    state = 3  # the parameters and Adam's two moments

    def facts(self, args: Any, size: int) -> dict[str, Any]:
        return {"model": "resnet20", "optimizer": "adam"}

    def phases(self, args: Any) -> list[Phase]:
        return PHASES

    def check(self, hub: Hub, turns: Turns) -> None:
        if turns.sizes["learner"] != turns.sizes["yardstick"]:
            raise FailedError(f"Rank {hub.rank}: the learner's network is not the lesson's.")

    def shares(self, rounds: list[Round], size: int) -> list[float]:
        return [made.times["silent"].seconds / made.times["together"].seconds for made in rounds]

    def write(self, record: Any, hub: Hub, rounds: list[Round], args: Any, params: Any) -> None:
        made = rounds[-1]
        times = made.times
        record.measure(
            "round",
            times["together"].seconds,
            "s",
            round=len(rounds),
            alone_s=times["alone"].seconds,
            silent_s=times["silent"].seconds,
            steps=made.plan["steps"],
            samples=args.batch_size,
            moved=made.moved,
            spread=spread_of(hub, params),
            **{f"{phase.name}_cpu_s": times[phase.name].cpu_s for phase in PHASES},
            silent_cores=times["silent"].cores,
            together_cores=times["together"].cores,
            seed=made.plan["seeds"]["together"][0],
        )

    def error(self, hub: Hub, turns: Turns, plan: Any, before: State, params: Any) -> float:
        """Recompute a phase's update from the mean of all ranks' gradients, and return its error.

        The yardsticks start from rank 0's parameters and moments before the phase, and compute
        gradients on the same batches. The error is relative to how far the parameters moved.
        """
        turns.give_turn("yardstick")
        adam = hub.share(before[0])
        start = hub.share_array(before[1])
        turns.ask("yardstick", "load", adam, numbers=start)
        seed = plan["seeds"]["together"][0] + hub.rank
        turns.ask("yardstick", "batches", seed, plan["steps"])
        for _ in range(plan["steps"]):
            mean = hub.mean(turns.ask("yardstick", "gradient")[1])
            turns.ask("yardstick", "apply", numbers=mean)
        right = turns.ask("yardstick", "state", 1)[1]
        way = float(np.linalg.norm(right - start[: right.size]))
        return float(np.linalg.norm(params - right)) / way if way > 0 else 1.0

    def end(self, record: Any, hub: Hub, turns: Turns, rounds: list[Round], params: Any) -> Any:
        return {"params": params, "param_spread": spread_of(hub, params)}


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
