"""The public checks of the lessons.

Importing the checks into a notebook makes it show each open gap in one line.
"""

from lessons.toolkit.checks.shared.gaps_in_cells import show_in_one_line

show_in_one_line()
