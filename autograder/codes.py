"""Codes of what the grader reports. Logic and tests use the codes; people read the sentences."""

from enum import StrEnum


class ProblemCode(StrEnum):
    """What a reader found in an output. Most problems only need their sentence: OTHER."""

    OTHER = "other"
    CHAIN_BROKEN = "chain broken"  # a line of the run record does not follow on the one before
    NEVER_WRITTEN = "never written"  # no honest program writes this: a person should look
    DIVERGED = "diverged"  # a loss that is not a number
    EXCEPTION = "exception"  # the line that ends a traceback
    UNREAD = "unread"  # the file itself could not be read
    TERMINAL_COPY = "terminal copy"  # copied from a window instead of a job's file
