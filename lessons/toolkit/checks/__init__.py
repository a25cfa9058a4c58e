"""The public checks of the lessons. Importing them in a notebook shows open gaps in one line."""

from lessons.toolkit.checks.shared.gaps_in_cells import show_in_one_line

show_in_one_line()
