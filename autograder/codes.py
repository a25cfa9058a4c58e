"""Codes of what the grader reports. Logic and tests use the codes; people read the sentences."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended."""

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
    """How far a run can be trusted, worst first."""

    CONTRADICTED = "contradicted"
    UNVERIFIED = "unverified"
    SELF_CONSISTENT = "self-consistent"
    CONFIRMED = "confirmed"
    REPRODUCED = "reproduced"


class CheckStatus(StrEnum):
    """The result of a check, or of a part of it."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    BORDERLINE = "borderline"  # the threshold lies inside the interval: full credit, and a flag
    NOT_MEASURED = "not measured"


class GradeStatus(StrEnum):
    """The state of a student's lesson: graded or not."""

    GRADED = "graded"
    MISSING = "missing"
    EXCUSED = "excused"
    NO_RUBRIC = "no rubric"
    GRADER_ERROR = "grader error"


class ProblemCode(StrEnum):
    """Problems that a reader finds in an output. Most need only their sentence: OTHER."""

    OTHER = "other"
    CHAIN_BROKEN = "chain broken"  # a line of the run record does not follow on the one before
    NEVER_WRITTEN = "never written"  # no honest program writes this: a person should look
    DIVERGED = "diverged"  # a loss that is not a number
    EXCEPTION = "exception"  # the line that ends a traceback
    BAD_LINE = "bad line"  # of a record
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
    """Findings that a person should know about a submission, its runs or its answers."""

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
    # Evidence. evidence/finding_codes.py has a row for each of these.
    # The record against itself: lines, epochs, samples.
    CHAIN_BROKEN = "chain broken"
    NEVER_WRITTEN = "never written"
    EPOCHS_OUT_OF_ORDER = "epochs out of order"
    MORE_EPOCHS_THAN_ASKED = "more epochs than asked"
    FEWER_EPOCHS_THAN_ASKED = "fewer epochs than asked"
    MORE_SAMPLES_THAN_SET = "more samples than set"
    MORE_SAMPLES_THAN_STEPS = "more samples than steps"
    SHARES_TOO_SMALL = "shares too small"
    # Seconds and the wall clock.
    EPOCHS_EXCEED_RUN = "epochs exceed run"
    CLOCK_BACKWARDS = "clock backwards"
    EPOCH_EXCEEDS_CLOCK = "epoch exceeds clock"
    RUN_EXCEEDS_CLOCK = "run exceeds clock"
    RUN_SHORT_OF_CLOCK = "run short of clock"
    EPOCHS_SHORT_OF_CLOCK = "epochs short of clock"
    EPOCHS_FAR_SHORT_OF_CLOCK = "epochs far short of clock"
    # Ranks.
    RANK_MISSING = "rank missing"
    RANK_WITHOUT_END = "rank without end"
    OTHER_RANK_COUNT = "other rank count"
    HASHES_AND_SPREAD = "hashes and spread"
    HOSTS_NOT_IN_HEADER = "hosts not in header"
    PROGRAMS_UNLIKE = "programs unlike"
    # What the same output says twice.
    EVALUATION_AND_END = "evaluation and end"
    DEVICES_DIFFER = "devices differ"
    START_AND_CLOCK = "start and clock"
    BEGAN_BEFORE_JOB = "began before job"
    OTHER_JOB = "other job"
    MORE_RANKS_THAN_PRINTED = "more ranks than printed"
    PRINTED_NO_GPU = "printed no gpu"
    PRINTED_TEST_DIFFERS = "printed test differs"
    PRINTED_EPOCHS_DIFFER = "printed epochs differ"
    ERROR_BESIDE_SUCCESS = "error beside success"
    # Data, speed and learning.
    DATA_HASH_AND_NAME = "data hash and name"
    DATA_IS_ANOTHER = "data is another"
    DATA_TOO_SMALL = "data too small"
    SYNTHETIC_DATA = "synthetic data"
    FASTER_THAN_HARDWARE = "faster than hardware"
    DIVERGED = "diverged"
    CONVERGES_TOO_FAST = "converges too fast"
    ALLREDUCE_TOO_FAST = "allreduce too fast"
    ROUNDS_COPIED = "rounds copied"
    ROUNDS_EXCEED_RUN = "rounds exceed run"
    SPEEDUP_BEYOND_RANKS = "speedup beyond ranks"
    SHARE_BEYOND_ONE = "share beyond one"
    # Runs of one submission against each other.
    SAME_SECONDS = "same seconds"
    SAME_LOSSES = "same losses"
    SAME_PARAMETERS = "same parameters"
    # The scheduler's accounting.
    NO_JOB_NAMED = "no job named"
    JOB_NOT_ACCOUNTED = "job not accounted"
    HOSTS_NOT_OF_JOB = "hosts not of job"
    MORE_NODES_THAN_JOB = "more nodes than job"
    MORE_RANKS_THAN_GPUS = "more ranks than gpus"
    JOB_WITHOUT_GPU = "job without gpu"
    JOB_GPUS_NOT_COUNTED = "job gpus not counted"  # the scheduler may not count GPUs
    MORE_RANKS_THAN_CPUS = "more ranks than cpus"
    MORE_RANKS_THAN_TASKS = "more ranks than tasks"
    OUTSIDE_JOB_TIME = "outside job time"
    LONGER_THAN_JOB = "longer than job"
    JOB_FAR_LONGER = "job far longer"
    JOB_ENDED_BADLY = "job ended badly"
    OTHER_ACCOUNT = "other account"
    ACCOUNT_NAME = "account name"  # whose account it is
    OTHER_JOB_NAME = "other job name"
    # The program, and what it does when it is run again.
    OTHER_PROGRAM = "other program"
    CHANGED_OUTSIDE_GAPS = "changed outside gaps"
    RERUN_UNFINISHED = "rerun unfinished"
    RERUN_OTHER_TIME = "rerun other time"
    RERUN_LONGER_THAN_JOB = "rerun longer than job"
    RERUN_SAME_SECONDS = "rerun same seconds"
    RERUN_OTHER_DATA = "rerun other data"
    RERUN_OTHER_RANKS = "rerun other ranks"
    RERUN_OTHER_EPOCHS = "rerun other epochs"
    RERUN_OTHER_STEPS = "rerun other steps"
    RERUN_OTHER_SAMPLES = "rerun other samples"
    RERUN_OTHER_BATCH = "rerun other batch"
    RERUN_OTHER_PARAMETERS = "rerun other parameters"
    RERUN_OTHER_MODEL = "rerun other model"
    RERUN_LOWER_ACCURACY = "rerun lower accuracy"
    RERUN_HIGHER_ACCURACY = "rerun higher accuracy"
    RERUN_HIGHER_LOSS = "rerun higher loss"
    RERUN_FAR_SLOWER = "rerun far slower"
    RERUN_CONTRADICTS_ITSELF = "rerun contradicts itself"
    # Reasons to look at a grade that are no findings on one submission.
    CHECK_BORDERLINE = "check borderline"
    CHECK_NOT_MEASURED = "check not measured"
    NOT_IN_ROSTER = "not in roster"
    OTHER_TOOLKIT = "other toolkit"
    SHARED_RUN = "shared run"  # with another student, as the next ones are
    SHARED_JOB = "shared job"
    SHARED_LOSSES = "shared losses"
    SHARED_PARAMETERS = "shared parameters"


# Their advice is for the instructor; a student has nothing to do about it.
ADVISE_INSTRUCTOR = frozenset(
    {
        FindingCode.GRADER_FAILED,
        FindingCode.OWNER_UNCERTAIN,
        FindingCode.MARKED_LATE,
        FindingCode.TIMES_DIFFER,
        FindingCode.FILE_UNREADABLE,
        FindingCode.CHANGED_OUTSIDE_GAPS,
        FindingCode.RERUN_OTHER_DATA,
        FindingCode.RERUN_FAR_SLOWER,
        ReasonCode.NOT_CALIBRATED,
    }
)
