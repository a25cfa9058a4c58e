"""Measure a network split into stages: times, memory, bytes and speed.

    watch_step(record, dist, stage, step, schedule="1f1b")         # one step's times and bytes
    clock.conduct(…, kind=Pipeline())                              # speed

This package does not trust anything that a student's functions return. Programs call it outside the
gaps.
"""

from lessons.toolkit.stages.rounds import Pipeline, widths_of
from lessons.toolkit.stages.watching import watch_step

__all__ = ["Pipeline", "watch_step", "widths_of"]
