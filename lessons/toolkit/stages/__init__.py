"""A network in stages, seen from outside: what ranks hold, what a step of theirs computes, when
each works, what it keeps and sends, and how much faster they are than one.

    measure_plan(record, plan)                                     # split, schedule, grid
    measure_holdings(record, dist, stage, mine)                    # who has which parameters
    measure_serial(record, dist, stage, train_step, order)         # against one process
    watch_step(record, dist, stage, step, schedule="1f1b")         # one step's diary
    measure_rounds(record, dist, serial=…, together={1: …, 4: …})  # speed

Nothing here trusts what a student's functions say; programs call it outside of their gaps.
"""

from lessons.toolkit.stages.against_serial import (
    measure_gradients,
    measure_holdings,
    measure_serial,
)
from lessons.toolkit.stages.plans import measure_plan
from lessons.toolkit.stages.rounds import measure_rounds
from lessons.toolkit.stages.watching import watch_step

__all__ = [
    "measure_gradients",
    "measure_holdings",
    "measure_plan",
    "measure_rounds",
    "measure_serial",
    "watch_step",
]
