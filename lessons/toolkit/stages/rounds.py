"""Measure, in several rounds of one launch, how much faster a pipeline is than one process.

In one phase of a round, rank 0 works *alone* with the whole network. In another phase, all ranks do
the same work at the same time and exchange nothing (*silent*), which shows the machine's limit. The
pipeline runs one phase for each number of micro-batches. All batches have the same size.

lessons/toolkit/clock/ keeps the time, outside the processes that do the work.
"""

import itertools
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.toolkit.clock.hub import Hub
from lessons.toolkit.clock.rounds import Round, State
from lessons.toolkit.clock.turns import ALONE, SILENT, Phase, Turns
from lessons.toolkit.clock.workers import FailedError

MOST = 1e3  # stands for a larger error, and for one that is not a number
LEAST = 1e-4  # relative to the largest change of a parameter
WANTED = 0.2  # required share of the possible gain over one process
# Measures of the learner. The conductor writes all others.
OTHERS = frozenset(["busy", "held", "bytes_off", "bubble"])


def widths_of(args: Any) -> list[int]:
    """Return each layer's number of inputs, and the last layer's number of outputs."""
    return [784, *[args.width] * (args.layers - 1), 10]


class Pipeline:
    """See clock/rounds.py: Kind."""

    code, again, worst = "pipeline.py or plan.py", "gradient_computed_again", "gradient_error"
    least, warm_up, state = 6, 1, 1

    def facts(self, args: Any, size: int) -> dict[str, Any]:
        self.sizes = [
            number
            for inputs, outputs in itertools.pairwise(widths_of(args))
            for number in (inputs * outputs, outputs)
        ]
        return {
            "model": f"mlp{args.layers}x{args.width}",
            "optimizer": "sgd",
            "scaling": "strong",
            "global_batch": args.batch_size,
            "stages": size,
            "cuts": "by hand" if args.cuts else "split",
        }

    def phases(self, args: Any) -> list[Phase]:
        self.tried = {m: str(m) for m in args.micro_batches}
        stages = [Phase(name, "learner", (m,), shared=True) for m, name in self.tried.items()]
        return [ALONE, SILENT, *stages]

    def check(self, hub: Hub, turns: Turns) -> None:
        held, whole = sum(hub.gather(turns.sizes["learner"])), turns.sizes["yardstick"]
        if held != whole:
            raise FailedError(
                f"The stages have {held:,} parameters together, and the network has "
                f"{whole:,}. Check `split` in plan.py, or --cuts."
            )

    def shares(self, rounds: list[Round], size: int) -> list[float]:
        found = [self.seconds(made) for made in rounds]
        best = fastest(typical(found))
        return [seconds["silent"] / size / seconds[best] for seconds in found]

    def seconds(self, made: Round) -> dict[Any, float]:
        """Return the seconds of a step in each phase, by number of micro-batches."""
        names = {"alone": "alone", "silent": "silent", **self.tried}
        return {m: made.times[name].seconds / made.plan["steps"] for m, name in names.items()}

    def write(self, record: Any, hub: Hub, rounds: list[Round], args: Any, params: Any) -> None:
        """Write nothing yet: only the last round shows which number of micro-batches is best."""

    def error(self, hub: Hub, turns: Turns, plan: Any, before: State, params: Any) -> float:
        """Compute a phase again in one process, and return the error of the stages' parameters.

        Rank 0's yardstick begins with the parameters of all stages, and takes the same steps with
        whole batches. The error is relative to how far a parameter of the same array moved.
        """
        turns.give_turn("yardstick")
        starts, ends = hub.arrays(before[1]), hub.arrays(params)
        if hub.rank:
            return 0.0
        start, end = np.concatenate(starts), np.concatenate(ends)
        turns.ask("yardstick", "load", [], numbers=start)
        turns.ask("yardstick", "train", plan["seeds"][plan["drawn"]][0], plan["steps"])
        right = turns.ask("yardstick", "state", 1)[1]
        cuts = np.cumsum(self.sizes)[:-1]
        return away(*(np.split(flat, cuts) for flat in (end, start, right)))

    def end(self, record: Any, hub: Hub, turns: Turns, rounds: list[Round], params: Any) -> Any:
        found = []
        for number, made in enumerate(rounds, 1):
            learners = [made.times[name] for name in self.tried.values()]
            cpu = {name: made.times[name].cpu_s for name in ("alone", "silent")}
            cpu["together"] = round(sum(times.cpu_s for times in learners), 3)
            facts = {
                "moved": made.moved,
                "steps": made.plan["steps"],
                **{f"{name}_cpu_s": seconds for name, seconds in cpu.items()},
                "silent_cores": made.times["silent"].cores,
                "together_cores": max(times.cores for times in learners),
            }
            found.append((number, self.seconds(made), facts))
        say(record, found, hub.size)
        turns.give_turn("learner")
        record.take(turns.ask("learner", "measures")[0], OTHERS)
        return {"params": params}


def typical(found: list[dict[Any, float]]) -> dict[int, float]:
    """Return the median seconds of a step with each number of micro-batches."""
    sizes = [m for m in found[0] if m not in ("alone", "silent")]
    return {m: statistics.median(seconds[m] for seconds in found) for m in sizes}


def fastest(seconds: dict[int, float]) -> int:
    return min(seconds, key=lambda m: (seconds[m], m))


def say(record: Any, found: list[tuple[int, dict[Any, float], dict[str, Any]]], ranks: int) -> None:
    """Record the rounds and the ratios of the times within each round.

    The possible gain from overlapping depends on the machine: on busy cores, two processes together
    may do no more than one.

    found: for each round, its number, the seconds per step of each phase, and other facts.
    """
    usual = typical([seconds for _, seconds, _ in found])
    fewest, best = min(usual), fastest(usual)
    ceiling = statistics.median(
        ranks * seconds["alone"] / seconds["silent"] for _, seconds, _ in found
    )
    wanted = 1 + WANTED * max(0.0, ceiling - 1)
    several = fastest({m: usual[m] for m in usual if m != fewest} or usual)
    for number, seconds, facts in found:
        alone, silent = seconds["alone"], seconds["silent"]
        record.measure(
            "pipeline_round", round(seconds[best], 6), "s", round=number,
            alone_s=round(alone, 6), silent_s=round(silent, 6),
            together_s={str(m): round(seconds[m], 6) for m in usual}, best=best, **facts,
        )  # fmt: skip
        gain = seconds[fewest] / seconds[several]
        ratios = {
            "pipeline_speedup": alone / seconds[best],
            "pipeline_share": silent / ranks / seconds[best],  # each silent rank does a batch
            "gain_over_wanted": gain / wanted,
        }
        for name, ratio in ratios.items():
            record.measure(name, round(ratio, 4), "", round=number, fewest=fewest)
    record.measure("rounds_made", len(found), "rounds")
    record.measure("sizes_tried", len(usual), "", micro_batches=list(usual))
    record.measure("best_micro_batches", best, "")
    moved = float(np.min([facts["moved"] for *_, facts in found]))
    record.measure("pipeline_moved", moved, "")


def away(
    found: list[np.ndarray], start: Sequence[np.ndarray], right: Sequence[np.ndarray]
) -> float:
    if [a.shape for a in found] != [a.shape for a in right]:
        return MOST
    ways = [float(np.abs(r - s).max()) for r, s in zip(right, start, strict=True)]
    least = LEAST * max(ways)  # in an array that hardly changes, rounding is not an error
    # Each array has its own scale: the first layers of a deep network have small gradients.
    # Python's max would skip nan.
    errors = [
        float(np.abs(f - r).max()) / max(way, least)
        for f, r, way in zip(found, right, ways, strict=True)
    ]
    worst = float(np.max(errors))
    return min(worst, MOST) if np.isfinite(worst) else MOST
