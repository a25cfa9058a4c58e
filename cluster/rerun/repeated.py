"""Choose what to run again: the programs and arguments behind the runs that count."""

from pathlib import PurePath, PurePosixPath
from typing import Any

import click

from autograder.grouping import grouped
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

Programs = dict[str, bytes]  # by path below the lesson's folder
Job = dict[str, Any]  # a program with a record's arguments, for one or several of its runs
LARGEST = 1_000_000  # bytes of all programs
LONGEST = 24 * 3600  # the longest repetition that a record may request, in seconds
COURSE = ("lessons", "cluster", "autograder")  # a rerun uses the instructor's own packages
BEFORE = {"08": ["make_parts.py", "--train-samples", "{train_samples}"]}  # a notebook's own runs


def take(submission: Submission, rubric: Rubric, size: Profile) -> tuple[Programs, list[Job]]:
    """Return the programs and the jobs of a rerun, or raise an error."""
    files = read_places(rubric.lesson, submission.places)
    programs = programs_in(files)
    runs = read_files(files.outputs, own_readers(rubric))
    hand_in = HandIn(rubric=rubric, runs=runs, answers={}, profile=size)
    counted = (measured_or_none(run_that_counts, hand_in, name) for name in rubric.runs)
    by_launch = {run.launch: run for run in counted if run is not None and run.launch}
    if not by_launch:
        raise click.ClickException("no run that counts has finished with a run record")
    jobs = grouped(  # runs of one job are repeated in one job
        ((run.job_id, run.header.program, run.header.arguments, run.header.world_size), run)
        for run in by_launch.values()
    )
    return programs, [job_of(runs, programs) for runs in jobs.values()]


def programs_in(files: LessonFiles) -> Programs:
    """Return the programs by their path below the lesson's folder."""
    found: Programs = {}
    for path, shown in files.programs.items():
        parts = PurePath(shown).parts  # you.zip/02_serial/nets/cnn.py becomes nets/cnn.py
        above = [n for n, part in enumerate(parts[:-1], 1) if is_package(part) or lesson_of(part)]
        name = str(PurePosixPath(*parts[max(above, default=0) :]))
        if name.endswith(JOB_FILES) or PurePath(name).parts[0] in COURSE:
            continue
        with open_regular(path) as file:
            text = file.read(LARGEST + 1)
        if found.setdefault(name, text) != text:
            raise click.ClickException(f"two different {shortened(name, 80)} were submitted")
        if sum(map(len, found.values())) > LARGEST:
            raise click.ClickException(f"the programs have more than {LARGEST:,} bytes")
    return found


def job_of(runs: list[Run], programs: Programs) -> Job:
    header = runs[0].header
    words = header.arguments
    if header.program not in programs:
        name = shortened(header.program or "", 60)
        raise click.ClickException(f"the record names the program {name}, which was not submitted")
    if words is None or any(not word.isprintable() or word.endswith("...") for word in words):
        raise click.ClickException("the program's arguments in its record are missing or damaged")
    samples = whole(header.dataset.train_samples)
    before = [word.format(train_samples=samples) for word in BEFORE.get(str(header.lesson), [""])]
    return {
        "program": header.program,
        "arguments": [in_own_tmp(word) for word in words],
        "ranks": whole(header.world_size),
        "threads": whole(header.threads),
        # programs may need the variables that these set
        "launcher": header.launcher if header.launcher in ("torchrun", "horovodrun") else "",
        "seconds": min(sum(r.total_seconds.value for r in runs if r.total_seconds), LONGEST),
        "before": before if before[0] in programs else [],  # runs first
        "launches": [run.launch for run in runs],
    }


def in_own_tmp(word: str) -> str:
    """Replace a path on the student's machine with one in the rerun's own /tmp."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}/tmp/{PurePath(value).name}" if value.startswith("/") else word


def whole(value: float | None) -> int:
    return max(1, int(value)) if value is not None and value < 1e9 else 1
