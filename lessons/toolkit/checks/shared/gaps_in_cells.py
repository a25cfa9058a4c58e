"""Explain two errors in a notebook's cells: an open gap, and a name that is not defined yet.

A gap is shown in one line, as the checks do, instead of a traceback.
"""

import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from lessons.toolkit.checks.shared.check import GAP

THIS_CELL = "this cell"
RUN_ABOVE = (
    "If a cell above this one defines `{name}`, run that cell first: Run → Run All Above Selected "
    'Cell. If `{name}` is meant as text, put it in quotes: "{name}". Otherwise, the name is '
    "misspelt."
)

RUN_FIRST = (
    "After a restart, the notebook knows no names. Run its first cells again: Run → Run All Above "
    "Selected Cell."
)


def show_in_one_line() -> None:
    """Change how this notebook shows gaps. Outside a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.set_custom_exc((NotImplementedError, NameError), show)


def show(
    shell: Any,
    kind: type[BaseException],
    error: Any,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show the error. IPython sets the name of the last parameter."""
    if GAP.match(str(error)):
        lines = [f"{error}.", f"Replace `raise …` in {place_of(trace)} with your own lines."]
        error._render_traceback_ = lambda: lines
    elif kind is NameError and error.name and place_of(trace) == THIS_CELL:
        first = error.name == "course"
        error.add_note(RUN_FIRST if first else RUN_ABOVE.format(name=error.name))
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)


def place_of(trace: TracebackType) -> str:
    while trace.tb_next:
        trace = trace.tb_next
    file = Path(trace.tb_frame.f_code.co_filename)
    # A cell's code has a name such as /tmp/ipykernel_1234/5678.py, and no such file exists.
    return file.name if file.is_file() else THIS_CELL
