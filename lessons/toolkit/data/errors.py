"""Define this package's only error: a sentence that names the file and the next step."""

import os
import sys
from pathlib import Path

from lessons.toolkit.data import launch


class DataError(Exception):
    """A problem with the data: what is wrong, where, and how to correct it."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that Jupyter shows instead of a traceback."""
        return [f"DataError: {self}"]


def end_with_the_sentence() -> None:
    """Make the program end without a traceback if it does not catch a DataError."""
    before = sys.excepthook
    if getattr(before, "shows_data_errors", False):
        return

    def show(kind, error, trace) -> None:
        if not isinstance(error, DataError):
            before(kind, error, trace)
            return
        sys.stdout.flush()
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr, flush=True)
        if launch.size() > 1:
            # A normal exit would wait in MPI_Finalize for the other ranks, which wait for this one
            # in their first allreduce. An abrupt exit makes the launcher end them all.
            os._exit(1)

    show.shows_data_errors = True  # type: ignore[attr-defined]
    sys.excepthook = show
