"""Prepare a new kernel: explain its first errors, and update the start page after each check."""

import contextlib
import sys

with contextlib.suppress(ImportError):  # a terminal's Python, perhaps of another environment
    from lessons.student import after_checks
    from lessons.toolkit.checks.shared import gaps_in_cells

    if "IPython" in sys.modules:
        after_checks.follow(sys.modules["IPython"].get_ipython())
        gaps_in_cells.show_in_one_line()
    del after_checks, gaps_in_cells
del contextlib, sys
