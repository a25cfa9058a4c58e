"""Define this package's only error: a sentence that names the file and the next step."""

import os
import sys
from pathlib import Path

from cluster.launchers import launched


class DataError(Exception):
    """A problem with the data: what is wrong, where, and how to correct it."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that Jupyter shows instead of a traceback."""
        return [f"DataError: {self}"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show(kind, error, trace, before=sys.excepthook) -> None:
    """Print a DataError that a program does not catch as a sentence, without a traceback."""
    if not isinstance(error, DataError):
        before(kind, error, trace)
        return
    sys.stdout.flush()
    say(f"{Path(sys.argv[0]).name}: {error}")
    if (launch := launched()) and launch.size > 1:
        # A normal exit would wait in MPI_Finalize for ranks that wait for this one's allreduce.
        os._exit(1)


sys.excepthook = show
