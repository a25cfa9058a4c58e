"""Fit scaling laws to a study, judge the fits, and predict values at other sizes.

    from autograder.measuring import laws

    study = laws.of_times(sizes, seconds, kind="strong")     # or "epoch", "weak"
    study = laws.of_rates(sizes, images_per_second)          # of all workers together
    [at_64] = laws.foretell(study, [64], node=4)             # NotMeasured says why not
    at_64.low, at_64.high                                    # speedup over the smallest size
    at_64.laws[0].fit.form.name, .parameters, .residual; .low, .best, .high; .describes

    laws.textbook(sizes, speedups)      # the fits that textbooks use, as in lesson 12
    laws.objections(sizes, speedups)    # what contradicts a law: codes and sentences

Sizes may repeat and come in any order. Speedups are relative to the smallest size of the study.
"""

from autograder.measuring.laws.envelope import Foretold, Said, farthest, foretell
from autograder.measuring.laws.fitting import KINDS, Study, of_rates, of_times
from autograder.measuring.scaling_laws import Objection, objections, textbook

__all__ = [
    "KINDS",
    "Foretold",
    "Objection",
    "Said",
    "Study",
    "farthest",
    "foretell",
    "objections",
    "of_rates",
    "of_times",
    "textbook",
]
