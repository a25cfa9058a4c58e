"""Open files that others made: only regular files, and without ever blocking.

Opening a pipe blocks until somebody writes into it. A file may be replaced after its folder was
listed, so the kind is checked on the opened file itself.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.submissions.doubts import note_of


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading. Otherwise raise OSError with the reason."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "this is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def start_of(path: Path, most: int) -> bytes:
    """Return at most this many bytes; none if the file cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(most)
    except OSError:
        return b""


def why(error: OSError) -> str:
    return error.strerror or type(error).__name__


def unreadable(name: str, reason: str) -> Note:
    """Return the finding for a file that the grader could not read.

    Without the file's contents, neither points nor a zero would be justified.
    """
    return note_of(FindingCode.FILE_UNREADABLE, name, reason)
