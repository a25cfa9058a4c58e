"""The codes for everything that the grader reports: for logic and tests. People read sentences."""

from enum import StrEnum, auto


class Severity(StrEnum):
    """The severity of a finding."""

    CONTRADICTS = "contradicts"  # parts of the record cannot both be true
    DOUBT = "doubt"  # keeps a run below *confirmed*, even if the accounting agrees
    LOOK = "look"  # an instructor should look at it
    INFORMATION = "information"


CONTRADICTS, DOUBT, LOOK, INFORMATION = Severity  # the worst first


class Audience(StrEnum):
    """The people for whom a finding is."""

    STUDENT = "student"  # who reads it and follows the advice
    BOTH = "both"  # the student reads it, and the instructor follows the advice
    INSTRUCTOR = "instructor"  # the student must not see it


STUDENT, BOTH, INSTRUCTOR = Audience
SAME_RESULT = "a run with other settings or accuracy has the same losses or parameters{name}"


class FindingCode(StrEnum):
    """Findings about a submission, its runs or its answers. Without a heading, they bring one.

    They are in the order of the harm that they do if nobody looks at them, the most first.
    """

    severity: Severity
    heading: str
    audience: Audience
    rank: int  # its position

    def __new__(
        cls, name: str, severity: Severity = LOOK, heading: str = "", audience: Audience = STUDENT
    ) -> "FindingCode":
        member = str.__new__(cls, name)
        member._value_, member.severity = name, severity
        member.heading, member.audience = heading, audience
        member.rank = len(cls.__members__)
        return member

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name.lower().replace("_", " ")

    # Something was not understood.
    GRADER_FAILED = auto(), LOOK, "The grader failed, which is not the student's fault", BOTH
    OWNER_UNKNOWN = auto(), LOOK, "It is not known whose submission this is", INSTRUCTOR
    LESSON_UNKNOWN = auto(), LOOK, "It is not clear which lesson this is"
    NO_RUBRIC = auto(), LOOK, "There is no rubric for this lesson", BOTH
    NOTHING_FOUND = auto(), LOOK, "No gradable files were found"
    OTHER_LESSON = auto(), LOOK, "The submission contains output of another lesson"
    ANSWERS_NOT_TEXT = auto(), LOOK, "The answers are in a file that is not read"
    ANSWER_LINE_UNREAD = auto(), LOOK, "A line of the answers could not be read"
    # A file is damaged or was left out.
    FILE_UNREADABLE = auto(), LOOK, "A file cannot be read, so nothing in it counts", BOTH
    ARCHIVE_CLOSED = auto(), LOOK, "Archives are not opened here", BOTH
    ARCHIVE_UNOPENED = auto(), LOOK, "An archive could not be read completely"
    LEFT_OUT = auto(), LOOK, "Something in the submission was left out"
    OUTPUTS_LEFT_OUT = auto(), LOOK, "An earlier submission has outputs, the one that counts none"
    FOLDERS_JOINED = auto(), LOOK, "Folders of one student are joined", INSTRUCTOR
    FILE_EMPTY = auto(), LOOK, "A submitted file is empty"
    TERMINAL_COPY = "copy from a terminal", LOOK, "This copy from a terminal is not the job's file"
    OUTPUT_CUT = auto(), LOOK, "The end of an output is missing"
    FILE_TOO_LARGE = auto(), LOOK, "The middle of a very large output was not read"
    CHECK_NOT_MEASURED = auto(), LOOK, "{name} is not measured", INSTRUCTOR
    # The record, the runs of one submission or the scheduler's accounting contradict each other.
    CHAIN_BROKEN = auto(), CONTRADICTS, "Lines of the record are missing, moved or changed"
    RANK_MISSING = auto(), CONTRADICTS, "Not every rank took part"
    PARTS_EXCEED_RUN = auto(), CONTRADICTS, "The epochs or rounds took longer than the whole run"
    CLOCK_BACKWARDS = auto(), CONTRADICTS, "The clock goes backwards"
    SAMPLES_IMPOSSIBLE = auto(), CONTRADICTS, "More samples than data, steps or shares allow"
    ROUNDS_COPIED = auto(), CONTRADICTS, "Rounds of the speed job are copies of each other"
    SAME_SECONDS = auto(), CONTRADICTS, "Two runs took exactly the same time, to the last digit"
    OUTSIDE_JOB = auto(), CONTRADICTS, "The run needs hosts, GPUs or time that its job did not have"
    # Another student submitted the same.
    SHARED_RUN = auto(), DOUBT, "the same run was also submitted by {name}", INSTRUCTOR
    SHARED_JOB = auto(), DOUBT, "a run of the same job was also submitted by {name}", INSTRUCTOR
    SHARED_RESULT = auto(), DOUBT, SAME_RESULT, INSTRUCTOR
    # Doubts about a run or its program.
    OTHER_PROGRAM = auto(), DOUBT, "The submitted program is not the one that ran"
    OTHER_ACCOUNT = auto(), DOUBT, "The job belongs to another account", INSTRUCTOR
    JOB_NOT_ACCOUNTED = auto(), DOUBT, "This job is not in the scheduler's accounting"
    JOB_TOO_SMALL = auto(), DOUBT, "The job had too few CPUs, or used them too little"
    DATA_IS_ANOTHER = auto(), DOUBT, "The data set is not the one that its name says"
    # Other reasons to look.
    RERUN_FEWER_POINTS = auto(), LOOK, "The rerun earns fewer points than the submission"
    PROBE_CHANGED = auto(), LOOK, "A test that ran differs from the released one", INSTRUCTOR
    OTHER_TOOLKIT = auto(), LOOK, "ran with a toolkit that no one else used", INSTRUCTOR
    OTHER_RANK_COUNT = auto(), LOOK, "The number of ranks differs from the requested number"
    NEVER_WRITTEN = auto(), LOOK, "The record has content that the course's programs never write"
    SYNTHETIC_DATA = auto(), LOOK, "The run trained on the synthetic stand-in, not on the real data"
    SHARE_BEYOND_ONE = auto(), LOOK, "The ranks are far faster with communication than without"
    ANSWERED_TWICE = auto(), LOOK, "`{id}` has different answers, so none counts"
    SEVERAL_REPORTS = auto(), LOOK, "Several reports were submitted"
    TIME_UNREAD = auto(), LOOK, "The platform's submission time cannot be read", INSTRUCTOR
    MARKED_LATE = auto(), LOOK, "Marked as late by the platform, which does not say how late", BOTH
    NOT_IN_ROSTER = auto(), LOOK, "not in the roster", INSTRUCTOR
    CHECK_WAITS = auto(), LOOK, "{name} waits for you", INSTRUCTOR
    CHECK_BORDERLINE = auto(), LOOK, "{name} is borderline", INSTRUCTOR
    # Information: nobody needs to look.
    RUN_TOO_SMALL = auto(), INFORMATION, "The run of `{name}` is smaller than required"
    BY_PARTNER = auto(), INFORMATION, "Submitted by {name} for the group"
    LATEST_COUNTS = auto(), INFORMATION, "Of several submissions, the last one counts"
    ANSWERS_NOT_ASKED = auto(), INFORMATION, "Answers to questions that are not in this lesson"
    # Lines of an output, whose reader gives the reason as the heading.
    READ_PROBLEM = auto(), INFORMATION
    BAD_LINE = auto(), INFORMATION  # a line of the run record that cannot be read
    EXCEPTION = auto(), INFORMATION  # the line that ends a traceback


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
    """The status of a check, or of one part of it, worst first."""

    FAILED = "failed"
    NOT_MEASURED = "not measured"
    WAITS = "waits"  # for the instructor, who gives its points by hand
    PARTIAL = "partial"
    BORDERLINE = "borderline"  # the threshold is inside the interval: full credit, and a flag
    PASSED = "passed"


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
    NOT_DRAWN = "not drawn"  # the id by which the questions are drawn is missing or another's
    TEXT = "text"  # a part of the report: whether it is there
    NO_REPORT = "no report"  # or not this part of it
    NO_RUN = "no run"
    NO_RUN_OF_SIZE = "no run of size"
    RUN_UNFINISHED = "run unfinished"
    TEST_FAILED = "test failed"  # the program could not measure it: an error, or a rank that waits
    RUN_UNCLEAR = "run unclear"  # an output may be this run, but does not show it
    NOT_CALIBRATED = "not calibrated"  # the instructor has not measured the solution on this site
    NOT_MEASURED = "not measured"  # the output does not have the value
    TOO_NOISY = "too noisy"  # the repeats differ too much, or the machine was busy: run again


# Only the instructor can supply what is missing, and the student may know that.
LEFT_TO_INSTRUCTOR = frozenset({ReasonCode.EXPECTED_KEPT, ReasonCode.NOT_CALIBRATED})
