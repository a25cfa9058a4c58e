"""Choose what to run again: the programs and arguments behind the runs that count."""

from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import run_that_counts
from autograder.measuring.interval import measured_or_none
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import Profile, Rubric, own_readers
from autograder.submissions.class_folder import Submission
from autograder.submissions.kinds import JOB_FILES, is_package, lesson_of
from autograder.submissions.lesson_files import LessonFiles, read_places
from autograder.submissions.walk import open_regular

LARGEST = 1_000_000  # bytes of all programs
LONGEST = 24 * 3600  # the longest repetition that a record may request, in seconds
COURSE = ("lessons", "cluster", "autograder")  # a rerun uses the instructor's own packages
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


def take(submission: Submission, rubric: Rubric, profile: Profile) -> Taken:
    """Return everything that a rerun needs from the submission, or raise NotRepeatableError."""
    files = read_places(rubric.lesson, submission.places)
    if not files.outputs:
        raise NotRepeatableError(f"no output of lesson {rubric.lesson} was submitted")
    runs = read_files(files.outputs, own_readers(rubric))
    programs = programs_in(files)
    hand_in = HandIn(rubric=rubric, runs=runs, answers={}, answers_file=None, profile=profile)
    counted = [measured_or_none(run_that_counts, hand_in, name) for name in rubric.runs]
    groups: dict[tuple, dict[str, Run]] = {}  # runs of one job are repeated in one job
    for run in counted:
        if run is not None and run.launch:
            key = (run.job_id, program_of(run, programs), arguments_of(run), ranks_of(run))
            groups.setdefault(key, {})[run.launch] = run
    if not groups:
        raise NotRepeatableError("no run that counts has finished with a run record")
    jobs = tuple(
        job_of(program, words, list(group.values()), programs)
        for (_, program, words, _), group in groups.items()
    )
    return Taken(submission.owner, rubric.lesson, programs, jobs)


def programs_in(files: LessonFiles) -> dict[str, bytes]:
    """Return the programs by their path below the lesson's folder."""
    if not files.programs:
        raise NotRepeatableError("no program was submitted")
    found: dict[str, bytes] = {}
    total = 0
    for path, shown in files.programs.items():
        name = below_lesson(PurePath(shown))
        if name.endswith(JOB_FILES) or PurePath(name).parts[0] in COURSE:
            continue
        with open_regular(path) as file:
            text = file.read(LARGEST + 1)
        if (total := total + len(text)) > LARGEST:
            raise NotRepeatableError(f"the programs have more than {LARGEST:,} bytes")
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


def job_of(
    program: str, arguments: tuple[str, ...], runs: list[Run], programs: dict[str, bytes]
) -> Repeated:
    header = runs[0].header
    first, *words = BEFORE.get(header.lesson or "", ("",))
    samples = whole(header.dataset.train_samples)
    before = (first, *(word.format(train_samples=samples) for word in words))
    return Repeated(
        program=program,
        arguments=arguments,
        ranks=ranks_of(runs[0]),
        threads=whole(header.threads),
        launcher=header.launcher if header.launcher in LAUNCHERS else "",
        seconds=min(sum(r.total_seconds.value for r in runs if r.total_seconds), LONGEST),
        before=before if first in programs else (),
        launches=tuple(run.launch for run in runs),
    )


def program_of(run: Run, programs: dict[str, bytes]) -> str:
    if (program := run.header.program) not in programs:
        name = shortened(program, 60)
        raise NotRepeatableError(f"the record names the program {name}, which was not submitted")
    return program


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


def ranks_of(run: Run) -> int:
    return whole(run.header.world_size)


def whole(value: float | None) -> int:
    return max(1, int(value)) if value is not None and value < 1e9 else 1
