"""Call a student's functions with inputs whose right answer is known, and return one number.

Programs call these functions outside the gaps and write the number to the run record. A student's
function that cannot be called, or that returns something other than numbers, yields inf or nan and
does not stop the program.
"""

from lessons.toolkit.probes.collectives import arrays_moved, largest_error, under_way

__all__ = [
    "arrays_moved",
    "largest_error",
    "under_way",
]
