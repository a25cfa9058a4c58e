"""The codes for everything that the grader reports.

Logic and tests use the codes. People read sentences.
"""

from enum import StrEnum

from autograder.finding_codes import BOTH, STUDENT, Audience
from autograder.finding_codes import FindingCode as FindingCode


class Outcome(StrEnum):
    """The way a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    OOM = "oom"
    STALLED = "stalled"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"
    EMPTY = "empty"


class EvidenceLevel(StrEnum):
    """Levels of trust in a run, worst first."""

    CONTRADICTED = "contradicted"
    UNVERIFIED = "unverified"
    SELF_CONSISTENT = "self-consistent"
    CONFIRMED = "confirmed"
    REPRODUCED = "reproduced"


class CheckStatus(StrEnum):
    """The status of a check, or of one part of it."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    BORDERLINE = "borderline"  # the threshold is inside the interval: full credit, and a flag
    NOT_MEASURED = "not measured"
    WAITS = "waits"  # for the instructor, who gives its points by hand


class GradeStatus(StrEnum):
    """The status of a student's lesson: graded, or the reason why it has no grade."""

    GRADED = "graded"
    MISSING = "missing"
    EXCUSED = "excused"
    NO_RUBRIC = "no rubric"
    GRADER_ERROR = "grader error"


class ReasonCode(StrEnum):
    """The reason why part of a check earned its credit, or why a value was not measured."""

    VALUE = "value"  # a measured value, compared with a threshold
    ANSWER = "answer"  # an answer, compared with the expected one
    OWN_RECORD = "own record"  # an answer, compared with the student's own run
    EXPECTED_KEPT = "expected answer kept"  # only the instructor has the expected answer
    ANSWERS_DIFFER = "answers differ"
    NO_ANSWER = "no answer"
    NO_ANSWERS_FILE = "no answers file"
    ANSWERS_FILE_UNREAD = "answers file unread"
    ANSWER_UNREAD = "answer unread"
    TEXT = "text"  # a part of the report: whether it is there
    NO_REPORT = "no report"
    NO_HEADING = "no heading"
    NO_RUN = "no run"
    NO_RUN_OF_SIZE = "no run of size"
    RUN_UNFINISHED = "run unfinished"
    RUN_UNCLEAR = "run unclear"  # an output without a record does not show every fact in `where`
    NOT_CALIBRATED = "not calibrated"  # the instructor has not measured the solution on this site
    NOT_MEASURED = "not measured"  # the output does not have the value
    TOO_NOISY = "too noisy"  # the repeats differ too much, or the machine was busy: run again

    @property
    def audience(self) -> Audience:
        """Return who follows the advice for a part with this reason."""
        by_instructor = self in (ReasonCode.NOT_CALIBRATED, ReasonCode.RUN_UNCLEAR)
        return BOTH if by_instructor else STUDENT


# Nothing was submitted for this part: no run, no answer, no report.
ABSENT = frozenset(
    {
        ReasonCode.NO_ANSWER,
        ReasonCode.NO_ANSWERS_FILE,
        ReasonCode.ANSWERS_FILE_UNREAD,
        ReasonCode.ANSWER_UNREAD,
        ReasonCode.NO_REPORT,
        ReasonCode.NO_HEADING,
        ReasonCode.NO_RUN,
        ReasonCode.NO_RUN_OF_SIZE,
    }
)
# Only the instructor can supply what is missing, and the student may know that.
LEFT_TO_INSTRUCTOR = frozenset({ReasonCode.EXPECTED_KEPT, ReasonCode.NOT_CALIBRATED})
