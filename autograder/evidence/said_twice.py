"""Compare facts that an output states twice.

A difference between two statements in the record is a contradiction. A difference from printed text
is only odd, because a student may print something else under the same name.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import median

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.records import Epoch, Number, Run, Where
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

# --- within the record ----------------------------------------------------------------------


def end_as_evaluated(run: Run) -> Iterator[Finding]:
    """Compare the test results of the end and the last evaluation; `record.end` writes both."""
    if run.beside.evaluated is None:
        return
    names = ("test_accuracy", "test_loss")
    for name, evaluated in zip(names, run.beside.evaluated, strict=True):
        at_end = getattr(run.end, name)
        if at_end is None or evaluated is None:
            continue
        if abs(at_end - evaluated) > 1e-6 * abs(at_end):
            number = getattr(run, name)
            yield finding(
                FindingCode.EVALUATION_AND_END,
                f"{name.replace('_', ' ')} {evaluated:g}, as evaluated",
                f"{at_end:g} at the end",
                [number.where if number else None],
            )


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
    if kind(header) != kind(rank_0) or not (header.startswith(rank_0) or rank_0.startswith(header)):
        yield finding(
            FindingCode.DEVICES_DIFFER,
            shortened(named, 60),
            shortened(first.device, 60),
            [first.where],
        )


def kind(device: str) -> str:
    return "CPU" if device.startswith("CPU") else "GPU"


START_SLACK_S = 5.0  # seconds between two lines that are written together
JOB_SLACK_S = 60.0  # seconds between the clocks of two nodes; no site's clocks differ by that much


def begun_as_said(run: Run) -> Iterator[Finding]:
    """Compare the header's start time with the first line's timestamp and the job's start."""
    started = moment(run.header.started)
    if started is None or run.began_ms is None:
        return
    if abs(started - run.began_ms / 1000) > START_SLACK_S:
        yield finding(
            FindingCode.START_AND_CLOCK,
            f"started {run.header.started}",
            f"{abs(started - run.began_ms / 1000):,.0f} s apart",
            run.rank_lines[:1],
        )
    job = moment(run.beside.job.get("started"))
    if job is not None and min(started, run.began_ms / 1000) < job - JOB_SLACK_S:
        yield finding(
            FindingCode.BEGAN_BEFORE_JOB,
            f"after {shortened(run.beside.job['started'], 40)}, when the job started",
            shortened(run.header.started, 40),
            run.rank_lines[:1],
        )


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
        yield finding(FindingCode.OTHER_JOB, printed, recorded, where)
    size, number = run.header.world_size or 0, first_number(job.get("ranks"))
    tasks = int(number[:9]) if number else size
    if tasks < size and run.header.launcher in BY_SCHEDULER:
        yield finding(
            FindingCode.MORE_RANKS_THAN_PRINTED,
            counted(tasks, "task") + ", as the job file printed",
            counted(int(size), "rank"),
            run.rank_lines,
            "start the program with `launch`, which starts one rank per task",
        )
    device = run.header.device or ""
    if job.get("gpus on this node") == "none" and any(name in device for name in NVIDIA):
        yield finding(
            FindingCode.PRINTED_NO_GPU,
            "no GPU on this node, as the job file printed",
            shortened(device, 60),
            where,
        )


def first_number(text: object) -> str:
    """Return `1234` from "1234 02_keras", "1234.pbs01" or 1234.

    Return an empty string if there is no number.
    """
    word = str(text).split(" ")[0].partition(".")[0].partition("[")[0]
    return word if word.isascii() and word.isdigit() else ""


# --- what the program printed ---------------------------------------------------------------


def test_as_printed(run: Run) -> Iterator[Finding]:
    pairs = (
        ("test accuracy", run.beside.test_accuracy, run.test_accuracy),
        ("test loss", run.beside.test_loss, run.test_loss),
    )
    for name, printed, recorded in pairs:
        if printed and recorded and not agree(printed, recorded.value):
            yield finding(
                FindingCode.PRINTED_TEST_DIFFERS,
                f"{printed.value:g}, as printed",
                f"{recorded.value:g} in the record",
                [printed.where, recorded.where],
                name=name,
            )


# Each of several ranks prints its own mean or the mean of all, and the record may have the other.
RANKS_LOSS, RANKS_ACCURACY = 0.25, 0.05
# Keras has printed 2/2 for an epoch of 3 steps: it learns the number only when the epoch ends.
KERAS_LATE = 1  # step


def epochs_as_printed(run: Run) -> Iterator[Finding]:
    """Compare the epochs with the lines that Keras and the course's loops printed.

    Only the first difference is reported, because an edited output usually has many.
    """
    several = len(run.ranks) > 1
    recorded = {epoch.number: epoch for epoch in run.epochs}
    pairs = [(one, recorded[one.number]) for one in run.beside.epochs if one.number in recorded]
    for printed, epoch in pairs:
        for name, printed_value, other, slack in (
            ("loss", printed.train_loss, epoch.train_loss, RANKS_LOSS),
            ("accuracy", printed.train_accuracy, epoch.train_accuracy, RANKS_ACCURACY),
        ):
            apart = slack * (max(1.0, other.value) if other else 1) if several else 0.0
            if printed_value and other and not agree(printed_value, other.value, apart):
                where = [printed.where, epoch.where]
                yield unlike_print(
                    f"{name} of epoch {printed.number}", printed_value, other.value, where
                )
                return
        if printed.steps and epoch.steps and epoch.steps > printed.steps + KERAS_LATE:
            yield unlike_print(
                f"steps of epoch {printed.number}",
                Number(printed.steps),
                epoch.steps,
                [printed.where, epoch.where],
            )
            return
    yield from seconds_as_printed(pairs)


def seconds_as_printed(pairs: Sequence[tuple[Epoch, Epoch]]) -> Iterator[Finding]:
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
            yield unlike_print(
                f"seconds of epoch {first.number} and most others",
                first.seconds,
                epoch.seconds.value,
                [first.where, epoch.where],
            )


def unlike_print(name: str, printed: Number, recorded: float, where: list[Where | None]) -> Finding:
    return finding(
        FindingCode.PRINTED_EPOCHS_DIFFER,
        f"{name}: {printed.value:g}, as printed",
        f"{recorded:g} in the record",
        where,
    )


def agree(printed: Number, value: float, apart: float = 0.0) -> bool:
    room = printed.half_width * 1.001 + 2e-6 * abs(value) + 1e-9 + apart
    return abs(printed.value - value) <= room


# --- the error file -------------------------------------------------------------------------


def no_error_beside_success(run: Run) -> Iterator[Finding]:
    # If a training continues in a later life of its job, the error ended an earlier one.
    if run.beside.errors and run.header.get("life") != "later":
        yield finding(
            FindingCode.ERROR_BESIDE_SUCCESS,
            "nothing that ended the job early",
            shortened(f"{run.beside.errors[0].reason}: {run.beside.errors[0].text}", 160),
            [error.where for error in run.beside.errors],
            "find out what the error was, and run the job again",
        )
