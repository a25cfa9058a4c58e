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


class ReasonCode(StrEnum):
    """Why a part of a check got its credit, or why something was not measured."""

    VALUE = "value"  # a measured value, compared with a threshold
    ANSWER = "answer"  # an answer, compared with the expected one
    OWN_RECORD = "own record"  # an answer, compared with the student's own run
    EXPECTED_KEPT = "expected answer kept"  # the expected answer is the instructor's
    ANSWERS_DIFFER = "answers differ"
    NO_ANSWER = "no answer"
    NO_ANSWERS_FILE = "no answers file"
    ANSWERS_FILE_UNREAD = "answers file unread"
    ANSWER_UNREAD = "answer unread"
    TABLE = "table"  # a table of the report, compared with the records
    TEXT = "text"  # a part of the report that was written
    NO_REPORT = "no report"
    NO_TABLE = "no table"
    NO_HEADING = "no heading"
    NO_RUN = "no run"
    NO_RUN_OF_SIZE = "no run of size"
    RUN_UNFINISHED = "run unfinished"
    NOT_CALIBRATED = "not calibrated"  # the instructor has not measured the solution on this site
    NOT_MEASURED = "not measured"  # the output does not give the value


# Nothing was submitted for it: no run, no answer, no report.
ABSENT = frozenset(
    {
        ReasonCode.NO_ANSWER,
        ReasonCode.NO_ANSWERS_FILE,
        ReasonCode.ANSWERS_FILE_UNREAD,
        ReasonCode.ANSWER_UNREAD,
        ReasonCode.NO_REPORT,
        ReasonCode.NO_TABLE,
        ReasonCode.NO_HEADING,
        ReasonCode.NO_RUN,
        ReasonCode.NO_RUN_OF_SIZE,
    }
)
# Only the instructor has what is missing.
LEFT_TO_INSTRUCTOR = frozenset({ReasonCode.EXPECTED_KEPT, ReasonCode.NOT_CALIBRATED})


class FindingCode(StrEnum):
    """What a person should know about a submission, its runs or its answers."""

    # What was submitted, by whom and when.
    GRADER_FAILED = "grader failed"
    BY_PARTNER = "by partner"
    OWNER_UNCERTAIN = "owner uncertain"
    LESSON_UNKNOWN = "lesson unknown"
    NOTHING_FOUND = "nothing found"
    MARKED_LATE = "marked late"  # and the platform does not say how late
    TIMES_DIFFER = "times differ"
    LATEST_COUNTS = "latest counts"
    SAME_TIME = "same time"
    SEVERAL_FOLDERS = "several folders"
    SEVERAL_REPORTS = "several reports"
    FOLDER_OF_OTHER_LESSON = "folder of other lesson"
    # Files and archives.
    LEFT_OUT = "left out"
    FILE_UNREADABLE = "file unreadable"
    TERMINAL_COPY = "copy from a terminal"
    ARCHIVE_KIND = "archive kind"  # a kind of archive that is not read
    ARCHIVE_LEFT_OUT = "archive left out"
    ARCHIVE_UNOPENED = "archive unopened"
    ARCHIVE_DAMAGED = "archive damaged"
    # Answers.
    ANSWERS_NOT_TEXT = "answers not text"
    ANSWERS_MISNAMED = "answers misnamed"
    ANSWERS_BESIDE = "answers beside answers.txt"
    ANSWERS_TOO_LARGE = "answers too large"
    ANSWERS_DIFFER = "answers in two places differ"
    ANSWERED_TWICE = "answered twice"
    ANSWER_LINE_UNREAD = "answer line unread"
    ANSWERS_NOT_ASKED = "answers not asked"
    # Runs.
    READ_PROBLEM = "read problem"
    LARGER_RUN_UNFINISHED = "larger run unfinished"
    RUN_TOO_SMALL = "run too small"
    OTHER_LESSON = "other lesson"


# Their advice is for the instructor; a student has nothing to do about it.
ADVISE_INSTRUCTOR = frozenset(
    {
        FindingCode.GRADER_FAILED,
        FindingCode.OWNER_UNCERTAIN,
        FindingCode.MARKED_LATE,
        FindingCode.TIMES_DIFFER,
        FindingCode.FILE_UNREADABLE,
        ReasonCode.NOT_CALIBRATED,
    }
)
