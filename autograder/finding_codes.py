"""All findings: the code of each, how serious it is, and its heading.

No points depend on evidence. Fields in braces are filled in where the finding is made.
"""

from enum import StrEnum, auto


class Severity(StrEnum):
    """How serious a finding is."""

    CONTRADICTS = "contradicts"  # parts of the record cannot both be true
    DOUBT = "doubt"  # keeps a run below *confirmed*, even where the accounting agrees
    LOOK = "look"  # an instructor should look at it
    INFORMATION = "information"


CONTRADICTS, DOUBT, LOOK, INFORMATION = Severity


class FindingCode(StrEnum):
    """Findings that a person should know about a submission, its runs or its answers.

    A finding without a heading here has its severity and title where it is made.
    """

    severity: Severity
    heading: str
    private: bool  # never shown to the student

    def __new__(
        cls, value: str, severity: Severity = LOOK, heading: str = "", private: bool = False
    ) -> "FindingCode":
        member = str.__new__(cls, value)
        member._value_ = value
        member.severity, member.heading, member.private = severity, heading, private
        return member

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name.lower().replace("_", " ")

    # fmt: off
    # What was submitted, by whom and when.
    GRADER_FAILED = (auto(), LOOK,
        "The grader failed on this submission. This is not the student's fault")
    BY_PARTNER = auto(), INFORMATION, "Handed in by {name}, for the group"
    OWNER_UNCERTAIN = "owner uncertain"
    LESSON_UNKNOWN = auto(), LOOK, "It is not clear which lesson this is"
    NOTHING_FOUND = auto(), LOOK, "Nothing found that can be graded"
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
    TERMINAL_COPY = ("copy from a terminal", LOOK,
        "This is a copy from a terminal, and not the file that the job wrote")
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
    ANSWERS_NOT_ASKED = auto(), INFORMATION, "Answers that this lesson does not ask"
    # Runs.
    READ_PROBLEM = "read problem"
    LARGER_RUN_UNFINISHED = (auto(), INFORMATION,
        "A larger run of `{name}` did not finish, so a smaller one counts")
    RUN_TOO_SMALL = auto(), INFORMATION, "The run of `{name}` is smaller than asked"
    OTHER_LESSON = auto(), LOOK, "An output of another lesson lies here"
    # The record against itself: lines, epochs, samples.
    CHAIN_BROKEN = auto(), CONTRADICTS, "The record's lines do not follow on each other"
    NEVER_WRITTEN = auto(), LOOK, "The record says something that the course's programs never write"
    EPOCHS_OUT_OF_ORDER = auto(), CONTRADICTS, "An epoch is missing or stands twice"
    MORE_EPOCHS_THAN_ASKED = auto(), CONTRADICTS, "More epochs than asked for"
    FEWER_EPOCHS_THAN_ASKED = auto(), DOUBT, "Fewer epochs than asked for, in a run that ended well"
    MORE_SAMPLES_THAN_SET = (
        auto(), CONTRADICTS, "An epoch says it read more different samples than there are")
    MORE_SAMPLES_THAN_STEPS = (
        auto(), CONTRADICTS, "An epoch says it read more samples than its steps can hold")
    SHARES_TOO_SMALL = (
        auto(), CONTRADICTS, "The ranks' shares hold fewer samples than the epochs say were read")
    # Seconds and the wall clock.
    EPOCHS_EXCEED_RUN = auto(), CONTRADICTS, "The epochs took longer than the whole run"
    CLOCK_BACKWARDS = auto(), CONTRADICTS, "The clock goes backwards"
    EPOCH_EXCEEDS_CLOCK = (
        auto(), CONTRADICTS, "An epoch took longer than there is between its start and its end")
    RUN_EXCEEDS_CLOCK = (auto(), CONTRADICTS,
        "The run took longer than there is between its first and its last line")
    RUN_SHORT_OF_CLOCK = auto(), DOUBT, "By the clock the run took far longer than it says"
    EPOCHS_SHORT_OF_CLOCK = auto(), DOUBT, "By the clock the epochs took longer than they say"
    EPOCHS_FAR_SHORT_OF_CLOCK = (
        auto(), DOUBT, "By the clock the epochs took far longer than they say")
    # Ranks.
    RANK_MISSING = auto(), CONTRADICTS, "Not every rank took part"
    RANK_WITHOUT_END = auto(), LOOK, "A rank began and did not report its end"
    OTHER_RANK_COUNT = auto(), LOOK, "Another number of ranks ran than was asked for"
    HASHES_AND_SPREAD = auto(), CONTRADICTS, "The parameters' hashes and their spread disagree"
    HOSTS_NOT_IN_HEADER = auto(), CONTRADICTS, "Ranks ran on hosts that the header does not name"
    PROGRAMS_UNLIKE = auto(), LOOK, "Ranks of one run had different programs"
    # What the same output says twice.
    EVALUATION_AND_END = auto(), CONTRADICTS, "The last evaluation and the run's end disagree"
    DEVICES_DIFFER = auto(), CONTRADICTS, "The header and rank 0 name different devices"
    START_AND_CLOCK = (
        auto(), CONTRADICTS, "The record's start and the clock of its first line disagree")
    BEGAN_BEFORE_JOB = auto(), CONTRADICTS, "The run began before its job"
    OTHER_JOB = auto(), CONTRADICTS, "The record names another job than its output"
    MORE_RANKS_THAN_PRINTED = auto(), DOUBT, "More ranks than the job had tasks"
    PRINTED_NO_GPU = auto(), DOUBT, "The record names a GPU, and the job saw none"
    PRINTED_TEST_DIFFERS = auto(), DOUBT, "The program printed another {name} than its record says"
    PRINTED_EPOCHS_DIFFER = auto(), DOUBT, "The program printed other epochs than its record says"
    ERROR_BESIDE_SUCCESS = (
        auto(), DOUBT, "The job's errors tell of a bad end, and the record of success")
    # Data, speed and learning.
    DATA_HASH_AND_NAME = auto(), CONTRADICTS, "The data set's hash and its name disagree"
    DATA_IS_ANOTHER = auto(), DOUBT, "The data set is called {name} and is another"
    DATA_TOO_SMALL = auto(), CONTRADICTS, "The data set has fewer samples than the record says"
    SYNTHETIC_DATA = auto(), LOOK, "The run trained on the synthetic stand-in, not on the real data"
    FASTER_THAN_HARDWARE = auto(), LOOK, "The run is faster than its hardware can compute"
    DIVERGED = auto(), LOOK, "The training diverged and went on to its end"
    CONVERGES_TOO_FAST = auto(), LOOK, "The training converges faster than the reference"
    ALLREDUCE_TOO_FAST = (
        auto(), CONTRADICTS, "An allreduce took less time than memory or a message takes")
    ROUNDS_COPIED = auto(), CONTRADICTS, "Rounds of the speed job are copies of each other"
    ROUNDS_EXCEED_RUN = auto(), CONTRADICTS, "The rounds took longer than the whole run"
    SPEEDUP_BEYOND_RANKS = auto(), LOOK, "The speedup is far beyond the number of ranks"
    SHARE_BEYOND_ONE = auto(), LOOK, "With an exchange the ranks are far faster than without"
    # Runs of one submission against each other.
    SAME_SECONDS = auto(), CONTRADICTS, "Two runs took the same seconds, to the last digit"
    SAME_LOSSES = (auto(), DOUBT,
        "Two runs that were asked for unlike things have the same losses, to the last digit")
    SAME_PARAMETERS = (
        auto(), CONTRADICTS, "Two runs end with the same parameters and unlike accuracies")
    # The scheduler's accounting.
    NO_JOB_NAMED = auto(), DOUBT, "The run names no job"
    JOB_NOT_ACCOUNTED = auto(), DOUBT, "The scheduler's accounting does not hold this job"
    HOSTS_NOT_OF_JOB = auto(), CONTRADICTS, "Ranks ran on hosts that the job did not have"
    MORE_NODES_THAN_JOB = auto(), CONTRADICTS, "Ranks ran on more nodes than the job had"
    MORE_RANKS_THAN_GPUS = auto(), CONTRADICTS, "More ranks on GPUs than the job had GPUs"
    JOB_WITHOUT_GPU = auto(), CONTRADICTS, "The run names a GPU, and its job had none"
    JOB_GPUS_NOT_COUNTED = auto(), DOUBT, "The run names a GPU, and its job had none"
    MORE_RANKS_THAN_CPUS = auto(), DOUBT, "More ranks than the job had CPUs"
    MORE_RANKS_THAN_TASKS = auto(), CONTRADICTS, "More ranks than tasks were started"
    OUTSIDE_JOB_TIME = auto(), CONTRADICTS, "The run lies outside the job's time"
    LONGER_THAN_JOB = auto(), CONTRADICTS, "The run says it took longer than its job"
    JOB_FAR_LONGER = auto(), DOUBT, "The {what} took far longer than the runs in it"
    JOB_ENDED_BADLY = auto(), DOUBT, "The job did not end well, and the record says success"
    OTHER_ACCOUNT = auto(), DOUBT, "The job belongs to another account"
    ACCOUNT_NAME = auto(), INFORMATION, "The job belongs to another account", True
    OTHER_JOB_NAME = auto(), DOUBT, "The job has another name than its output says"
    # The program, and what it does when it is run again.
    OTHER_PROGRAM = auto(), DOUBT, "The program handed in is not the one that ran"
    CHANGED_OUTSIDE_GAPS = (
        auto(), LOOK, "Lines that measure, record or read data were changed outside the gaps", True)
    RERUN_UNFINISHED = auto(), LOOK, "The program handed in did not finish when it was run again"
    RERUN_OTHER_TIME = (
        auto(), CONTRADICTS, "The program printed a record of another time when it was run again")
    RERUN_LONGER_THAN_JOB = (auto(), CONTRADICTS,
        "The program says that it took longer than its job when it was run again")
    RERUN_SAME_SECONDS = (auto(), CONTRADICTS,
        "The program printed the very seconds of the record when it was run again")
    RERUN_OTHER_DATA = auto(), LOOK, "The rerun had other data, so it says nothing"
    RERUN_OTHER_RANKS = auto(), CONTRADICTS, "Another number of ranks when it was run again"
    RERUN_OTHER_EPOCHS = auto(), CONTRADICTS, "Another number of epochs when it was run again"
    RERUN_OTHER_STEPS = (
        auto(), CONTRADICTS, "Another number of steps of the epochs when it was run again")
    RERUN_OTHER_SAMPLES = (auto(), CONTRADICTS,
        "Another number of different samples of the epochs when it was run again")
    RERUN_OTHER_BATCH = (
        auto(), CONTRADICTS, "Another number of samples of a step when it was run again")
    RERUN_OTHER_PARAMETERS = (
        auto(), CONTRADICTS, "Another number of parameters when it was run again")
    RERUN_OTHER_MODEL = auto(), CONTRADICTS, "Another model when it was run again"
    RERUN_LOWER_ACCURACY = auto(), CONTRADICTS, "A lower {name} when it was run again"
    RERUN_HIGHER_ACCURACY = auto(), LOOK, "A higher {name} when it was run again"
    RERUN_HIGHER_LOSS = auto(), CONTRADICTS, "A higher {name} when it was run again"
    RERUN_FAR_SLOWER = auto(), LOOK, "Far slower when it was run again on the same kind of device"
    RERUN_CONTRADICTS_ITSELF = (
        auto(), CONTRADICTS, "What the program printed contradicts itself when it was run again")
    # Reasons to look at a grade that are no findings on one submission.
    CHECK_BORDERLINE = "check borderline"
    CHECK_NOT_MEASURED = "check not measured"
    NOT_IN_ROSTER = "not in roster"
    OTHER_TOOLKIT = "other toolkit"
    SHARED_RUN = "shared run"  # with another student, as the next ones are
    SHARED_JOB = "shared job"
    SHARED_LOSSES = "shared losses"
    SHARED_PARAMETERS = "shared parameters"
    # fmt: on
