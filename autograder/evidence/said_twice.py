"""Compare facts that an output states twice.

A difference between two statements in the record is a contradiction. A difference from printed text
is only odd, because a student may print something else under the same name.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from statistics import median

from autograder.codes import FindingCode as Code
from autograder.evidence.findings import finding
from autograder.records import Epoch, Number, Run
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

START_SLACK_S = 5.0  # seconds between two lines that are written together
JOB_SLACK_S = 60.0  # seconds between the clocks of two nodes; no site's clocks differ by that much

# --- within the record ----------------------------------------------------------------------


def end_as_evaluated(run: Run) -> Iterator[Finding]:
    """Compare the test results of the end and the last evaluation; `record.end` writes both."""
    names = ("test_accuracy", "test_loss")
    for name, evaluated in zip(names, run.beside.evaluated or (), strict=False):
        at_end, number = getattr(run.end, name), getattr(run, name)
        if at_end is None or evaluated is None:
            continue
        if abs(at_end - evaluated) > 1e-6 * abs(at_end):
            expected = f"{name.replace('_', ' ')} {evaluated:g}, as evaluated"
            where = [number.where if number else None]
            yield finding(Code.EVALUATION_AND_END, expected, f"{at_end:g} at the end", where)


def device_as_in_header(run: Run) -> Iterator[Finding]:
    """Compare rank 0's device with the one in the header.

    If there are several devices, the device name in rank 0's line also includes a number.
    """
    named, first = run.header.device, next((r for r in run.ranks if r.rank == 0), None)
    if named is None or first is None or not first.device:
        return
    header, rank_0 = (
        text.partition(" #")[0].removesuffix("...")[:60] for text in (named, first.device)
    )
    same_kind = header.startswith("CPU") == rank_0.startswith("CPU")
    if not same_kind or not (header.startswith(rank_0) or rank_0.startswith(header)):
        expected, found = shortened(named, 60), shortened(first.device, 60)
        yield finding(Code.DEVICES_DIFFER, expected, found, [first.where])


def begun_as_said(run: Run) -> Iterator[Finding]:
    """Compare the header's start time with the first line's timestamp and the job's start."""
    started, where = moment(run.header.started), run.rank_lines[:1]
    if started is None or run.began_ms is None:
        return
    began = run.began_ms / 1000
    if abs(started - began) > START_SLACK_S:
        expected = f"started {run.header.started}"
        yield finding(Code.START_AND_CLOCK, expected, f"{abs(started - began):,.0f} s apart", where)
    job_started = run.beside.job.get("started")
    job = moment(job_started)
    if job is not None and min(started, began) < job - JOB_SLACK_S:
        expected = f"after {shortened(job_started, 40)}, when the job started"
        yield finding(Code.BEGAN_BEFORE_JOB, expected, shortened(run.header.started, 40), where)


def moment(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo else None


# --- what the job file printed --------------------------------------------------------------

# these start as many ranks as the job has tasks
BY_SCHEDULER = ("srun", "mpirun", "mpiexec", "horovodrun")
NVIDIA = ("NVIDIA", "Tesla", "GeForce", "RTX", "H100", "H200", "A100", "V100", "P100", "L40", "T4")


def job_as_printed(run: Run) -> Iterator[Finding]:
    """Compare the run's job, ranks and GPUs with what the job file printed before the run."""
    job, where = run.beside.job, run.rank_lines[:1]
    printed, recorded = first_number(job.get("job")), first_number(run.header.job_id)
    if printed and recorded and printed != recorded:
        yield finding(Code.OTHER_JOB, printed, recorded, where)
    size, number = run.header.world_size or 0, first_number(job.get("ranks"))
    tasks = int(number[:9]) if number else size
    if tasks < size and run.header.launcher in BY_SCHEDULER:
        expected = counted(tasks, "task") + ", as the job file printed"
        advice = "start the program with `launch`, which starts one rank per task"
        found = counted(int(size), "rank")
        yield finding(Code.MORE_RANKS_THAN_PRINTED, expected, found, run.rank_lines, advice)
    device = run.header.device or ""
    if job.get("gpus on this node") == "none" and any(name in device for name in NVIDIA):
        expected = "no GPU on this node, as the job file printed"
        yield finding(Code.PRINTED_NO_GPU, expected, shortened(device, 60), where)


def first_number(text: object) -> str:
    """Return `1234` from "1234 02_keras", "1234.pbs01" or 1234.

    Return an empty string if there is no number.
    """
    word = str(text).split(" ")[0].partition(".")[0].partition("[")[0]
    return word if word.isascii() and word.isdigit() else ""


# --- what the program printed ---------------------------------------------------------------

# Each of several ranks prints its own mean or the mean of all, and the record may have the other.
RANKS_LOSS, RANKS_ACCURACY = 0.25, 0.05
# Keras has printed 2/2 for an epoch of 3 steps: it learns the number only when the epoch ends.
KERAS_LATE = 1  # step

Pair = tuple[Epoch, Epoch]  # an epoch as it was printed, and as it was recorded


def test_as_printed(run: Run) -> Iterator[Finding]:
    pairs = (
        ("test accuracy", run.beside.test_accuracy, run.test_accuracy),
        ("test loss", run.beside.test_loss, run.test_loss),
    )
    for name, printed, recorded in pairs:
        if printed and recorded and not agree(printed, recorded.value):
            expected, found = f"{printed.value:g}, as printed", f"{recorded.value:g} in the record"
            where = [printed.where, recorded.where]
            yield finding(Code.PRINTED_TEST_DIFFERS, expected, found, where, name=name)


def epochs_as_printed(run: Run) -> Iterator[Finding]:
    """Compare the epochs with the lines that Keras and the course's loops printed.

    Only the first difference is reported, because an edited output usually has many.
    """
    recorded = {epoch.number: epoch for epoch in run.epochs}
    pairs = [(one, recorded[one.number]) for one in run.beside.epochs if one.number in recorded]
    differences = (one for pair in pairs for one in values_as_printed(pair, len(run.ranks) > 1))
    yield from islice(chain(differences, seconds_as_printed(pairs)), 1)


def values_as_printed(pair: Pair, several_ranks: bool) -> Iterator[Finding]:
    printed, epoch = pair
    losses = ("loss", printed.train_loss, epoch.train_loss, RANKS_LOSS)
    accuracies = ("accuracy", printed.train_accuracy, epoch.train_accuracy, RANKS_ACCURACY)
    for name, value, other, slack in (losses, accuracies):
        apart = slack * max(1.0, other.value) if other and several_ranks else 0.0
        if value and other and not agree(value, other.value, apart):
            yield unlike_print(f"{name} of epoch {printed.number}", value.value, other.value, pair)
    if printed.steps and epoch.steps and epoch.steps > printed.steps + KERAS_LATE:
        yield unlike_print(f"steps of epoch {printed.number}", printed.steps, epoch.steps, pair)


def seconds_as_printed(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Compare the printed seconds of each epoch with the recorded seconds.

    Keras also counts work such as checkpoints, so its seconds are never less than the record's. The
    course's own loops print the same seconds as the record. This is a finding only if most epochs
    differ, because a single epoch may have been delayed.
    """
    shorter, longer = [], []
    for printed, epoch in pairs:
        if not printed.seconds or not epoch.seconds:
            continue
        printed_s, seconds = printed.seconds, epoch.seconds.value
        checked = printed.val_loss is not None or printed.val_accuracy is not None
        room = 1.0 + seconds if printed.steps or checked else 0.05
        shorter.append(0.0 if checked else printed_s.value - printed_s.half_width - seconds - room)
        longer.append(seconds - printed_s.value - printed_s.half_width - 0.1 - 0.05 * seconds)
    if shorter and (median(shorter) > 0 or median(longer) > 0):
        first, epoch = pairs[0]
        if first.seconds and epoch.seconds:
            name = f"seconds of epoch {first.number} and most others"
            yield unlike_print(name, first.seconds.value, epoch.seconds.value, pairs[0])


def unlike_print(name: str, printed: float, recorded: float, pair: Pair) -> Finding:
    where = [epoch.where for epoch in pair]
    expected, found = f"{name}: {printed:g}, as printed", f"{recorded:g} in the record"
    return finding(Code.PRINTED_EPOCHS_DIFFER, expected, found, where)


def agree(printed: Number, value: float, apart: float = 0.0) -> bool:
    room = printed.half_width * 1.001 + 2e-6 * abs(value) + 1e-9 + apart
    return abs(printed.value - value) <= room


# --- the error file -------------------------------------------------------------------------


def no_error_beside_success(run: Run) -> Iterator[Finding]:
    # If a training continues in a later life of its job, the error ended an earlier one.
    errors = run.beside.errors
    if errors and run.header.get("life") != "later":
        found = shortened(f"{errors[0].reason}: {errors[0].text}", 160)
        where = [error.where for error in errors]
        advice = "find out what the error was, and run the job again"
        expected = "nothing that ended the job early"
        yield finding(Code.ERROR_BESIDE_SUCCESS, expected, found, where, advice)
