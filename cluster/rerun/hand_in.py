"""Choose what to run again: the programs and arguments behind the runs that count."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import run_that_counts
from autograder.measuring import measure
from autograder.measuring.interval import measured_or_none
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import Profile, Rubric, own_readers
from autograder.submissions.class_folder import Submission
from autograder.submissions.kinds import JOB_FILES, is_package
from autograder.submissions.lesson_files import LessonFiles, read_places
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.regular_files import open_regular

MOST_PROGRAMS, LARGEST = 100, 1_000_000  # number of files, bytes per file
LONGEST = 24 * 3600  # the longest repetition that a record may request, in seconds

LAUNCHERS = ("torchrun", "horovodrun")  # programs may need the variables these set

# What a notebook runs before it submits its job: lesson -> program and arguments.
BEFORE = {"08": ("make_parts.py", "--train-samples", "{train_samples}")}


class NotRepeatableError(Exception):
    """A submission cannot be run again. The message says why."""


@dataclass(frozen=True)
class Repeated:
    """One job to submit: a program with the record's arguments, for one or several runs."""

    program: str
    arguments: tuple[str, ...]
    ranks: int
    hosts: int
    threads: int
    launcher: str  # value of LAUNCHER, if it replaces the site's launcher
    seconds: float  # duration of the recorded run
    before: tuple[str, ...]  # a program and its arguments to run first
    launches: tuple[str, ...]


@dataclass(frozen=True)
class Taken:
    student: str
    lesson: str
    programs: dict[str, bytes]  # by path relative to the program
    jobs: tuple[Repeated, ...]

    def digests(self) -> dict[str, str]:
        return {name: hashlib.sha256(text).hexdigest() for name, text in self.programs.items()}


def take(submission: Submission, rubric: Rubric, profile: Profile) -> Taken:
    """Return everything that a rerun needs from the submission, or raise NotRepeatableError."""
    files = read_places(rubric.lesson, submission.places)
    if not files.outputs:
        raise NotRepeatableError(f"no output of lesson {rubric.lesson} was submitted")
    runs = read_files(files.outputs, own_readers(rubric))
    programs = programs_in(files)
    hand_in = HandIn(rubric=rubric, runs=runs, answers={}, answers_file=None, profile=profile)
    counted = [r for n in rubric.runs if (r := measured_or_none(run_that_counts, hand_in, n))]
    recorded = {run.launch: run for run in counted if run.launch}
    if not recorded:
        raise NotRepeatableError("no run that counts has finished with a run record")
    jobs = jobs_of(list(recorded.values()), programs)
    return Taken(submission.owner, rubric.lesson, programs, jobs)


def programs_in(files: LessonFiles) -> dict[str, bytes]:
    """Return the programs by their path below the lesson's folder."""
    if not files.programs:
        raise NotRepeatableError("no program was submitted")
    if len(files.programs) > MOST_PROGRAMS:
        raise NotRepeatableError(f"more than {MOST_PROGRAMS} programs were submitted")
    found: dict[str, bytes] = {}
    for path, shown in files.programs.items():
        name = below_lesson(PurePath(shown))
        if name.endswith(JOB_FILES):
            continue  # the record's launch says how the programs ran
        text = read_program(path, name)
        if found.setdefault(name, text) != text:
            raise NotRepeatableError(f"two different {shortened(name, 80)} were submitted")
    return found


def below_lesson(name: PurePath) -> str:
    """Return the path below the lesson: `you.zip/02_serial/nets/cnn.py` becomes nets/cnn.py."""
    folders = name.parts[:-1]
    packed = [number for number, part in enumerate(folders, 1) if is_package(part)]
    top = packed[-1] if packed else 0
    below = (number for number, part in enumerate(folders[top:], top + 1) if lesson_of(part))
    return str(PurePosixPath(*name.parts[next(below, top) :]))


def read_program(path: Path, name: str) -> bytes:
    try:
        with open_regular(path) as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise NotRepeatableError(
            f"{shortened(name, 80)} cannot be read: {error.strerror}"
        ) from None
    if len(text) > LARGEST:
        raise NotRepeatableError(f"{shortened(name, 80)} has more than {LARGEST:,} bytes")
    return text


# --- jobs ---------------------------------------------------------------------------------------


def jobs_of(runs: Sequence[Run], programs: dict[str, bytes]) -> tuple[Repeated, ...]:
    """Return the jobs to submit. Runs from the same job are rerun in the same job."""
    groups: dict[tuple, list[Run]] = {}
    for run in runs:
        key = (run.job_id, program_of(run, programs), arguments_of(run), measure.workers(run))
        groups.setdefault(key, []).append(run)
    return tuple(
        job_of(program, arguments, group, programs)
        for (_, program, arguments, _), group in groups.items()
    )


def job_of(
    program: str, arguments: tuple[str, ...], runs: Sequence[Run], programs: dict[str, bytes]
) -> Repeated:
    first = runs[0]
    return Repeated(
        program=program,
        arguments=arguments,
        ranks=whole(first.header.world_size),
        hosts=len({rank.host for rank in first.ranks if rank.host}) or 1,
        threads=whole(first.header.threads),
        launcher=launcher if (launcher := first.header.launcher or "") in LAUNCHERS else "",
        seconds=min(sum(r.total_seconds.value for r in runs if r.total_seconds), LONGEST),
        before=before(first, programs),
        launches=tuple(run.launch for run in runs),
    )


def program_of(run: Run, programs: dict[str, bytes]) -> str:
    name = run.header.program
    if name is None or name not in programs:
        raise NotRepeatableError(
            f"the record names the program {shortened(name, 60)}, which was not submitted"
        )
    return name


def arguments_of(run: Run) -> tuple[str, ...]:
    words = run.header.arguments
    if words is None:
        raise NotRepeatableError("its record lacks the program's arguments")
    if any(not word.isprintable() or word.endswith("...") for word in words):
        raise NotRepeatableError("the arguments in its record are truncated or damaged")
    return tuple(map(in_own_tmp, words))


def in_own_tmp(word: str) -> str:
    """Replace a path on the student's machine with one in the rerun's own /tmp."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}/tmp/{PurePath(value).name}" if value.startswith("/") else word


def before(run: Run, programs: dict[str, bytes]) -> tuple[str, ...]:
    program, *words = BEFORE.get(run.header.lesson or "", ("",))
    if program not in programs:
        return ()
    samples = whole(run.header.dataset.train_samples)
    return (program, *(word.format(train_samples=samples) for word in words))


def whole(value: float | None) -> int:
    return max(1, int(value)) if value is not None and value < 1e9 else 1
