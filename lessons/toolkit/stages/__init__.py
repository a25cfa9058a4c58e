"""Measure a network split into stages: plans, times, memory, bytes and speed.

    plans.split_excess(plan.split)                                 # also schedule and grid
    watch_step(record, dist, stage, step, schedule="1f1b")         # one step's times and bytes
    clock.conduct(…, kind=Pipeline())                              # speed

This package does not trust anything that a student's functions return. Programs call it outside the
gaps.
"""

from lessons.toolkit.stages import plans
from lessons.toolkit.stages.rounds import Pipeline, widths_of
from lessons.toolkit.stages.watching import watch_step

__all__ = ["Pipeline", "plans", "watch_step", "widths_of"]
