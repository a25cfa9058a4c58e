"""What a student's function does with numbers that nobody can foretell, told in one number.

Programs call these outside of their gaps and put the number into the run record. A function that
cannot be called, or gives something else than numbers, gives inf or nan and stops nothing.
"""

from lessons.toolkit.probes.collectives import arrays_moved, largest_error, under_way
from lessons.toolkit.probes.updates import lars_error, rate_error, update_error

__all__ = [
    "arrays_moved",
    "largest_error",
    "lars_error",
    "rate_error",
    "under_way",
    "update_error",
]
