"""The one error of this package: a sentence that names the file and says what to do."""

import os
import sys
from pathlib import Path

from lessons.toolkit.data import launch


class DataError(Exception):
    """What is wrong with the data, where it lies and how to mend it, for the one who reads it."""

    def _render_traceback_(self) -> list[str]:
        """Jupyter shows these lines in place of a traceback."""
        return [f"DataError: {self}"]


def end_with_the_sentence() -> None:
    """If the program does not catch the DataError that is under way, end without a traceback."""
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
            # An orderly end would wait in MPI_Finalize for ranks that wait for this one in their
            # first allreduce. Gone without a farewell, it makes the launcher end them all.
            os._exit(1)

    show.shows_data_errors = True  # type: ignore[attr-defined]
    sys.excepthook = show
