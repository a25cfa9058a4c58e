"""Explain errors in the cells of a new kernel, which has not imported the course yet."""

import contextlib

with contextlib.suppress(ImportError):  # another environment's Python, in a terminal of JupyterLab
    from lessons.toolkit.checks.shared import gaps_in_cells

    gaps_in_cells.show_in_one_line()
    del gaps_in_cells
