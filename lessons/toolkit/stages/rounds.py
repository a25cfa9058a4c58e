"""Measure, in several rounds of one launch, how much faster a pipeline is than one process.

In one phase of a round, rank 0 works *alone* with the whole network. In the next phase, all ranks
do the same work at the same time and exchange nothing (*silent*), which shows the machine's limit.
After that, the pipeline runs one phase for each number of micro-batches. All batches have the same
size. Every second round runs in reverse order, so that other load on the machine affects all phases
equally.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lessons.toolkit.record.epoch_clock import synchronise
from lessons.toolkit.stages.gathering import gathered

Step = Callable[[], Any]
WANTED = 0.2  # required share of the possible gain over one process


def measure_rounds(
    record: Any,
    dist: Any,
    *,
    serial: Step,
    together: Mapping[int, Step],
    params: Callable[[], Any],
    rounds: int,
    steps: int,
) -> int:
    """Measure the rounds; call this on all ranks.

    together: number of micro-batches -> a step of the pipeline with it. params: this rank's
    parameters. Return the best number of micro-batches, which is the same on all ranks.
    """
    phases: dict[Any, Step] = {"alone": serial, "silent": serial, **together}
    for phase, step in phases.items():
        seconds_of(dist, phase, step, 1)
    found = []
    for number in range(1, rounds + 1):
        before = [array.detach().clone() for array in params()]
        order = list(phases) if number % 2 else list(phases)[::-1]
        seconds = {phase: seconds_of(dist, phase, phases[phase], steps) for phase in order}
        changes = [
            float((after.detach() - old).abs().max())
            for after, old in zip(params(), before, strict=True)
        ]
        moved = float(np.min(gathered(dist, float(np.max(changes)))))
        found.append((number, seconds, moved))
    typical = {m: statistics.median(seconds[m] for _, seconds, _ in found) for m in together}
    best = min(typical, key=lambda m: (typical[m], m))
    say(record, found, typical, steps, dist.get_world_size())
    return best


def say(
    record: Any, found: list[Any], typical: Mapping[int, float], steps: int, ranks: int
) -> None:
    """Record the rounds and the ratios of the times within each round.

    The possible gain from overlapping depends on the machine: on busy cores, two processes together
    may do no more than one.
    """
    fewest, best = min(typical), min(typical, key=lambda m: (typical[m], m))
    ceiling = statistics.median(
        ranks * seconds["alone"] / seconds["silent"] for _, seconds, _ in found
    )
    wanted = 1 + WANTED * max(0.0, ceiling - 1)
    several = min((m for m in typical if m != fewest), key=typical.__getitem__, default=fewest)
    for number, seconds, moved in found:
        each = {str(m): round(seconds[m] / steps, 6) for m in typical}
        alone, silent = seconds["alone"], seconds["silent"]
        record.measure(
            "pipeline_round", round(seconds[best] / steps, 6), "s", round=number,
            alone_s=round(alone / steps, 6), silent_s=round(silent / steps, 6), together_s=each,
            moved=moved, best=best,
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
    record.measure("sizes_tried", len(typical), "", micro_batches=list(typical))
    record.measure("best_micro_batches", best, "")
    record.measure("pipeline_moved", float(np.min([moved for *_, moved in found])), "")


def seconds_of(dist: Any, phase: Any, step: Step, steps: int) -> float:
    """Return the time of the slowest rank in seconds, from a moment when all ranks are ready."""
    dist.barrier()
    began = time.perf_counter()
    if phase != "alone" or dist.get_rank() == 0:
        for _ in range(steps):
            step()
        synchronise()
    return float(max(gathered(dist, time.perf_counter() - began)))
