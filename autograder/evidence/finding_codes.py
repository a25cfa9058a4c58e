"""All findings of evidence: how serious each one is, and its title.

No points depend on them. A finding that forbids *confirmed* keeps a run below that evidence level,
even where the scheduler's accounting agrees. Fields in braces are filled in by the check.
"""

from enum import StrEnum
from typing import NamedTuple

from autograder.codes import FindingCode as Code


class Severity(StrEnum):
    CONTRADICTS = "contradicts"  # parts of the record cannot both be true
    LOOK = "look"  # an instructor should look at it
    INFORMATION = "information"


class Row(NamedTuple):
    severity: Severity
    forbids_confirmed: bool
    title: str
    private: bool = False  # never shown to the student


CONTRADICTS, LOOK, INFORMATION = Severity

EVIDENCE_FINDINGS: dict[Code, Row] = {
    # The record against itself: lines, epochs, samples.
    Code.CHAIN_BROKEN: Row(CONTRADICTS, True, "The record's lines do not follow on each other"),
    Code.NEVER_WRITTEN: Row(
        LOOK, False, "The record says something that the course's programs never write"
    ),
    Code.EPOCHS_OUT_OF_ORDER: Row(CONTRADICTS, True, "An epoch is missing or stands twice"),
    Code.MORE_EPOCHS_THAN_ASKED: Row(CONTRADICTS, True, "More epochs than asked for"),
    Code.FEWER_EPOCHS_THAN_ASKED: Row(
        LOOK, True, "Fewer epochs than asked for, in a run that ended well"
    ),
    Code.MORE_SAMPLES_THAN_SET: Row(
        CONTRADICTS, True, "An epoch says it read more different samples than there are"
    ),
    Code.MORE_SAMPLES_THAN_STEPS: Row(
        CONTRADICTS, True, "An epoch says it read more samples than its steps can hold"
    ),
    Code.SHARES_TOO_SMALL: Row(
        CONTRADICTS, True, "The ranks' shares hold fewer samples than the epochs say were read"
    ),
    # Seconds and the wall clock.
    Code.EPOCHS_EXCEED_RUN: Row(CONTRADICTS, True, "The epochs took longer than the whole run"),
    Code.CLOCK_BACKWARDS: Row(CONTRADICTS, True, "The clock goes backwards"),
    Code.EPOCH_EXCEEDS_CLOCK: Row(
        CONTRADICTS, True, "An epoch took longer than there is between its start and its end"
    ),
    Code.RUN_EXCEEDS_CLOCK: Row(
        CONTRADICTS, True, "The run took longer than there is between its first and its last line"
    ),
    Code.RUN_SHORT_OF_CLOCK: Row(LOOK, True, "By the clock the run took far longer than it says"),
    Code.EPOCHS_SHORT_OF_CLOCK: Row(
        LOOK, True, "By the clock the epochs took longer than they say"
    ),
    Code.EPOCHS_FAR_SHORT_OF_CLOCK: Row(
        LOOK, True, "By the clock the epochs took far longer than they say"
    ),
    # Ranks.
    Code.RANK_MISSING: Row(CONTRADICTS, True, "Not every rank took part"),
    Code.RANK_WITHOUT_END: Row(LOOK, False, "A rank began and did not report its end"),
    Code.OTHER_RANK_COUNT: Row(LOOK, False, "Another number of ranks ran than was asked for"),
    Code.HASHES_AND_SPREAD: Row(
        CONTRADICTS, True, "The parameters' hashes and their spread disagree"
    ),
    Code.HOSTS_NOT_IN_HEADER: Row(
        CONTRADICTS, True, "Ranks ran on hosts that the header does not name"
    ),
    Code.PROGRAMS_UNLIKE: Row(LOOK, False, "Ranks of one run had different programs"),
    # What the same output says twice.
    Code.EVALUATION_AND_END: Row(
        CONTRADICTS, True, "The last evaluation and the run's end disagree"
    ),
    Code.DEVICES_DIFFER: Row(CONTRADICTS, True, "The header and rank 0 name different devices"),
    Code.START_AND_CLOCK: Row(
        CONTRADICTS, True, "The record's start and the clock of its first line disagree"
    ),
    Code.BEGAN_BEFORE_JOB: Row(CONTRADICTS, True, "The run began before its job"),
    Code.OTHER_JOB: Row(CONTRADICTS, True, "The record names another job than its output"),
    Code.MORE_RANKS_THAN_PRINTED: Row(LOOK, True, "More ranks than the job had tasks"),
    Code.PRINTED_NO_GPU: Row(LOOK, True, "The record names a GPU, and the job saw none"),
    Code.PRINTED_TEST_DIFFERS: Row(
        LOOK, True, "The program printed another {name} than its record says"
    ),
    Code.PRINTED_EPOCHS_DIFFER: Row(
        LOOK, True, "The program printed other epochs than its record says"
    ),
    Code.ERROR_BESIDE_SUCCESS: Row(
        LOOK, True, "The job's errors tell of a bad end, and the record of success"
    ),
    # Data, speed and learning.
    Code.DATA_HASH_AND_NAME: Row(CONTRADICTS, True, "The data set's hash and its name disagree"),
    Code.DATA_IS_ANOTHER: Row(LOOK, True, "The data set is called {name} and is another"),
    Code.DATA_TOO_SMALL: Row(
        CONTRADICTS, True, "The data set has fewer samples than the record says"
    ),
    Code.SYNTHETIC_DATA: Row(
        LOOK, False, "The run trained on the synthetic stand-in, not on the real data"
    ),
    Code.FASTER_THAN_HARDWARE: Row(LOOK, False, "The run is faster than its hardware can compute"),
    Code.DIVERGED: Row(LOOK, False, "The training diverged and went on to its end"),
    Code.CONVERGES_TOO_FAST: Row(LOOK, False, "The training converges faster than the reference"),
    Code.ALLREDUCE_TOO_FAST: Row(
        CONTRADICTS, True, "An allreduce took less time than memory or a message takes"
    ),
    Code.ROUNDS_COPIED: Row(CONTRADICTS, True, "Rounds of the speed job are copies of each other"),
    Code.ROUNDS_EXCEED_RUN: Row(CONTRADICTS, True, "The rounds took longer than the whole run"),
    Code.SPEEDUP_BEYOND_RANKS: Row(LOOK, False, "The speedup is far beyond the number of ranks"),
    Code.SHARE_BEYOND_ONE: Row(
        LOOK, False, "With an exchange the ranks are far faster than without"
    ),
    # Runs of one submission against each other.
    Code.SAME_SECONDS: Row(CONTRADICTS, True, "Two runs took the same seconds, to the last digit"),
    Code.SAME_LOSSES: Row(
        LOOK,
        True,
        "Two runs that were asked for unlike things have the same losses, to the last digit",
    ),
    Code.SAME_PARAMETERS: Row(
        CONTRADICTS, True, "Two runs end with the same parameters and unlike accuracies"
    ),
    # The scheduler's accounting.
    Code.NO_JOB_NAMED: Row(LOOK, True, "The run names no job"),
    Code.JOB_NOT_ACCOUNTED: Row(LOOK, True, "The scheduler's accounting does not hold this job"),
    Code.HOSTS_NOT_OF_JOB: Row(CONTRADICTS, True, "Ranks ran on hosts that the job did not have"),
    Code.MORE_NODES_THAN_JOB: Row(CONTRADICTS, True, "Ranks ran on more nodes than the job had"),
    Code.MORE_RANKS_THAN_GPUS: Row(CONTRADICTS, True, "More ranks on GPUs than the job had GPUs"),
    Code.JOB_WITHOUT_GPU: Row(CONTRADICTS, True, "The run names a GPU, and its job had none"),
    Code.JOB_GPUS_NOT_COUNTED: Row(LOOK, True, "The run names a GPU, and its job had none"),
    Code.MORE_RANKS_THAN_CPUS: Row(LOOK, True, "More ranks than the job had CPUs"),
    Code.MORE_RANKS_THAN_TASKS: Row(CONTRADICTS, True, "More ranks than tasks were started"),
    Code.OUTSIDE_JOB_TIME: Row(CONTRADICTS, True, "The run lies outside the job's time"),
    Code.LONGER_THAN_JOB: Row(CONTRADICTS, True, "The run says it took longer than its job"),
    Code.JOB_FAR_LONGER: Row(LOOK, True, "The {what} took far longer than the runs in it"),
    Code.JOB_ENDED_BADLY: Row(LOOK, True, "The job did not end well, and the record says success"),
    Code.OTHER_ACCOUNT: Row(LOOK, True, "The job belongs to another account"),
    Code.ACCOUNT_NAME: Row(INFORMATION, True, "The job belongs to another account", private=True),
    Code.OTHER_JOB_NAME: Row(LOOK, True, "The job has another name than its output says"),
    # The program, and what it does when it is run again.
    Code.OTHER_PROGRAM: Row(LOOK, True, "The program handed in is not the one that ran"),
    Code.CHANGED_OUTSIDE_GAPS: Row(
        LOOK,
        False,
        "Lines that measure, record or read data were changed outside the gaps",
        private=True,
    ),
    Code.RERUN_UNFINISHED: Row(
        LOOK, False, "The program handed in did not finish when it was run again"
    ),
    Code.RERUN_OTHER_TIME: Row(
        CONTRADICTS, True, "The program printed a record of another time when it was run again"
    ),
    Code.RERUN_LONGER_THAN_JOB: Row(
        CONTRADICTS, True, "The program says that it took longer than its job when it was run again"
    ),
    Code.RERUN_SAME_SECONDS: Row(
        CONTRADICTS,
        True,
        "The program printed the very seconds of the record when it was run again",
    ),
    Code.RERUN_OTHER_DATA: Row(LOOK, False, "The rerun had other data, so it says nothing"),
    Code.RERUN_OTHER_RANKS: Row(CONTRADICTS, True, "Another number of ranks when it was run again"),
    Code.RERUN_OTHER_EPOCHS: Row(
        CONTRADICTS, True, "Another number of epochs when it was run again"
    ),
    Code.RERUN_OTHER_STEPS: Row(
        CONTRADICTS, True, "Another number of steps of the epochs when it was run again"
    ),
    Code.RERUN_OTHER_SAMPLES: Row(
        CONTRADICTS, True, "Another number of different samples of the epochs when it was run again"
    ),
    Code.RERUN_OTHER_BATCH: Row(
        CONTRADICTS, True, "Another number of samples of a step when it was run again"
    ),
    Code.RERUN_OTHER_PARAMETERS: Row(
        CONTRADICTS, True, "Another number of parameters when it was run again"
    ),
    Code.RERUN_OTHER_MODEL: Row(CONTRADICTS, True, "Another model when it was run again"),
    Code.RERUN_LOWER_ACCURACY: Row(CONTRADICTS, True, "A lower {name} when it was run again"),
    Code.RERUN_HIGHER_ACCURACY: Row(LOOK, False, "A higher {name} when it was run again"),
    Code.RERUN_HIGHER_LOSS: Row(CONTRADICTS, True, "A higher {name} when it was run again"),
    Code.RERUN_FAR_SLOWER: Row(
        LOOK, False, "Far slower when it was run again on the same kind of device"
    ),
    Code.RERUN_CONTRADICTS_ITSELF: Row(
        CONTRADICTS, True, "What the program printed contradicts itself when it was run again"
    ),
}
