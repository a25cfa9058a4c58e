"""Open files that others made: only regular ones, and without waiting for anybody.

Opening a pipe waits until somebody writes into it. What a name was when the folder was listed, it
need not be when it is opened: so the opened file itself is asked.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path

from autograder.codes import FindingCode
from autograder.submissions.doubts import Doubt, finding_of
from autograder.verdict import Finding


def open_regular(path: Path) -> BufferedReader:
    """A regular file to be read; OSError with a reason if it is none or cannot be opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "this is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def why(error: OSError) -> str:
    return error.strerror or type(error).__name__


def unreadable(name: str, reason: str) -> Finding:
    """Return the finding on a file that the grader did not see: neither its points nor a zero are
    certain."""
    return finding_of(Doubt(FindingCode.FILE_UNREADABLE, name, reason))
