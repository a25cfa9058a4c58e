"""The public checks of the lessons. In a notebook, open gaps are then shown in one line."""

from lessons.toolkit.checks.shared.gaps_in_cells import show_in_one_line

show_in_one_line()
