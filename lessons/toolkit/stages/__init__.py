"""Measure a network split into stages: parameters, results, times, memory, bytes and speed.

    measure_plan(record, plan)                                     # split, schedule, grid
    measure_holdings(record, dist, stage, mine)                    # who has which parameters
    measure_serial(record, dist, stage, train_step, order)         # against one process
    watch_step(record, dist, stage, step, schedule="1f1b")         # one step's times and bytes
    clock.conduct(…, kind=Pipeline())                              # speed

This package does not trust anything that a student's functions return. Programs call it outside the
gaps.
"""

from lessons.toolkit.stages.against_serial import measure_holdings, measure_serial
from lessons.toolkit.stages.plans import measure_plan
from lessons.toolkit.stages.rounds import Pipeline, widths_of
from lessons.toolkit.stages.watching import watch_step

__all__ = [
    "Pipeline",
    "measure_holdings",
    "measure_plan",
    "measure_serial",
    "watch_step",
    "widths_of",
]
