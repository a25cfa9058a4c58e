"""`autograder grade`: grade a class of submissions and write reports."""

import errno
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from filelock import FileLock, Timeout

from autograder.classroom.adjust import with_policy
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.pool import grade_each
from autograder.classroom.whole_class import with_class
from autograder.codes import EvidenceLevel, FindingCode
from autograder.commands.options import (
    EXISTING,
    FILE,
    FOLDER,
    THERE,
    load,
    profile_option,
    roster_option,
    with_options,
)
from autograder.commands.roll_call import not_graded
from autograder.data_files import NEW, cannot_write, write as write_file, write_all
from autograder.errors import SettingsError
from autograder.report import changes, files, terminal
from autograder.report.exports import to_csv
from autograder.safe_text import shortened
from autograder.settings.class_file import ClassFile, class_file_of, read_class_file
from autograder.settings.policy import check_students
from autograder.settings.roster import meant_by, unused
from autograder.settings.rubric import unexpected
from autograder.submissions import manifest
from autograder.submissions.class_folder import listed, read_class, strays
from autograder.verdict import GRADER_ERROR, Grade
from autograder.wording import counted


@click.command(
    epilog="Exit code 0: graded; 1: graded, and a person should look at something; 2: wrong usage, "
    "or a mistake in one of your files: nothing was graded; 3: the grader failed on a submission "
    "and graded the others."
)
@click.argument("class_folder", metavar="CLASS", type=EXISTING)
@click.option("--out", type=FOLDER, help="Folder for pages and tables.")
@click.option(
    "--class", "class_file", type=FILE, help="Settings. Default: class.yaml in CLASS, if any."
)
@profile_option
@click.option("--rubrics", type=THERE, help="Folder of rubrics NN.yaml.")
@click.option(
    "--set",
    "words",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Replace a field of class.yaml, as in overrides=overrides.csv.",
)
@roster_option
@click.option("--canvas", type=FILE, help="Canvas gradebook export to fill in.")
@click.option("--moodle", type=FILE, multiple=True, help="Moodle worksheet to fill in.")
@click.option(
    "--gradescope", "results", type=click.Path(path_type=Path), help="Write results.json here."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes at a time. Default: all cores.")
def grade_command(
    class_folder: Path,
    class_file: Path | None,
    out: Path | None,
    results: Path | None,
    jobs: int | None,
    **given: Any,
) -> None:
    """Grade CLASS/<student>/<lesson>/, as `autograder collect` writes it or by hand.

    CLASS/class.yaml, if it exists, has the settings; `autograder init-class CLASS` writes one.
    CLASS/manifest.csv, if it exists, says who submitted each folder. Archives are not opened; use
    `autograder collect`. For your own folder, use `autograder check-mine`.
    """
    if out is None and (given["canvas"] or given["moodle"]):
        raise click.UsageError("--canvas and --moodle write into the folder of --out: give one")
    if not class_folder.is_dir():
        name = shortened(class_folder)
        raise click.UsageError(
            f"{name} is a file. Collect it first: autograder collect {name} --from … --into CLASS"
        )
    path = class_file or class_file_of(class_folder)
    if path and not class_file:
        click.echo(f"Settings: {shortened(path)}", err=True)
    file = with_options(read_class_file(path), given)
    if out is not None:
        check_outside(class_folder, out)
    settings = load(file)
    submissions = read_class(class_folder, settings.rubrics, meant_by(settings.people))
    students = {student for submission in submissions for student in submission.students}
    if not submissions:
        raise click.UsageError(
            f"{class_folder} has no submissions: expected are folders <student>/<lesson>/…, and "
            "students in manifest.csv. `autograder collect` makes both from a platform's download"
        )
    if results and len(students) > 1:
        raise click.UsageError("--gradescope writes the result of one student; grade one alone")
    check_students(settings.policy, students, settings.people)
    named = manifest.read(class_folder / manifest.NAME)
    beside = [Path(entry.path) for entry in listed(class_folder)] if named is None else []
    for line in [*unused(file.roster), *not_graded(named or {}, strays(beside))]:
        click.echo(line, err=True)
    undecided = [r for r in (named or {}).values() if not r.owners and manifest.is_doubtful(r)]
    settings = replace(settings, unowned=tuple(manifest.reasons(undecided)))
    with locked(out) if out else nullcontext():
        with progress(len(submissions)) as tick:
            graded = grade_each(submissions, settings, jobs or len(os.sched_getaffinity(0)), tick)
        grades = with_policy(submissions, graded, settings)
        rows = with_class(grades, settings)
        said = write(grades, rows, settings, file, out, results)
    said += [*without_expected(rows, settings), accounting_notice(rows, settings.jobs)]
    terminal.show(rows, out, settings.titles, settings.profile, said)
    sys.exit(exit_code(rows) or int(bool(undecided)))


def without_expected(rows: Sequence[Grade], settings: ClassSettings) -> Iterator[str]:
    """Yield a message for each graded lesson whose expected answers are missing."""
    for lesson in sorted({row.lesson for row in rows if row.checks}):
        if missing := unexpected(settings.rubrics[lesson], settings.expected[lesson]):
            answers = counted(len(missing), "answer")
            text = f"Lesson {lesson}: no expected value for {answers}, which therefore earn nothing"
            yield f"{text}: copy expected/{lesson}.yaml into the folder of your rubrics."


def accounting_notice(rows: Sequence[Grade], jobs: Collection[str] | None) -> str:
    """Return a message if the accounting has none of the jobs, or contradicts all of them."""
    runs = [(row, run.job_id) for row in rows for run in row.runs if run.counted and run.job_id]
    if jobs is None or not runs:
        return ""
    for row, job in runs:
        known = job in jobs or job.partition(".")[0] in jobs
        odd = any(note.code == FindingCode.OTHER_ACCOUNT for note in row.findings)
        if known and not odd and row.tier != EvidenceLevel.CONTRADICTED:
            return ""
    count = counted(len(runs), "run")
    return f"The accounting fits none of the class's {count}: is it of another cluster or time?"


def check_outside(place: Path, out: Path) -> None:
    """Check that the output folder is not among the submissions, where a rerun would read it."""
    home, read = out.resolve(), place.resolve()
    ours = read.relative_to(home).parts[:1] if read.is_relative_to(home) else ()
    if home.is_relative_to(read) or {*ours} & {*files.FOLDERS}:
        raise click.UsageError(
            f"--out {out} is among the submissions of {place}: choose a folder outside it"
        )


@contextmanager
def progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar with the remaining time on a terminal; show nothing for a few students."""
    if total < 20 or not sys.stderr.isatty():
        yield lambda count: None
        return
    with click.progressbar(length=total, label="grading", show_pos=True, file=sys.stderr) as bar:
        yield bar.update


# --- what is written, and said --------------------------------------------------------------------

MOST_CHANGES = 20  # lines on a terminal


def write(
    grades: Sequence[Grade],
    rows: Sequence[Grade],
    settings: ClassSettings,
    file: ClassFile,
    out: Path | None,
    results: Path | None,
) -> list[str]:
    """Write all files, once each is complete, and return what to say about them and the rows."""
    said: list[str] = []
    if out:
        named, said = files.of_class(rows, settings.people, settings, file.canvas, file.moodle)
        named |= files.of_students(grades, rows, settings.people, settings)
        if (out / NEW).exists():
            said.append("The last grading was interrupted while it wrote. All files are new now.")
        # The list of changes comes first and grades.json last, so a kill loses no change.
        named["grades.json"] = named.pop("grades.json")
        if changed := list_changes(out, str(named["grades.json"])):
            named = {changes.NAME: to_csv([changes.Change._fields, *changed]), **named}
            said += [str(change) for change in changed[:MOST_CHANGES]]
            more = len(changed) - MOST_CHANGES
            said += [f"{counted(more, 'more changed grade')}: {changes.NAME}"] if more > 0 else []
        write_all(out, named)
    elif len({row.student for row in rows}) > 1:
        said.append("Nothing was saved: --out FOLDER writes pages and tables.")
    if results:
        from autograder.report import gradescope

        write_file(results, gradescope.document(grades))
    return [*said, *before_release(rows)]


def list_changes(out: Path, after: str) -> list[changes.Change]:
    """Return the grades that differ from those in the folder, if it has any."""
    path = out / "grades.json"
    try:
        return changes.changes(path.read_text(encoding="utf-8"), after)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        click.echo(f"{path} cannot be compared, so no changes are listed: {error}", err=True)
        return []


def before_release(rows: Sequence[Grade]) -> list[str]:
    """Return notes for the instructor to read before releasing the points."""
    lines = []
    if waits := sum(row.score is not None and row.final_score is None for row in rows):
        lines.append(f"{counted(waits, 'grade')} with points that wait: not exported to platforms.")
    if untimed := sum(row.untimed for row in rows):
        lines.append(f"{counted(untimed, 'grade')} without a submission time, counted as on time.")
    return lines


def exit_code(rows: Sequence[Grade]) -> int:
    """Return the exit code that `autograder grade --help` describes."""
    if any(row.status == GRADER_ERROR for row in rows):
        return 3
    return 1 if any(row.look for row in rows) else 0


LOCK = ".lock"
WAIT_S = 3.0
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP)  # of some mounts of NFS and Lustre


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock the folder, so that no other grader writes into it."""
    lock = FileLock(out / LOCK)
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=WAIT_S)
    except Timeout:
        raise SettingsError(
            f"another grader is writing into {out}: wait until it has finished, or choose another "
            "--out"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise cannot_write(out / LOCK, error) from None
        click.echo(f"{out} cannot be locked ({error.strerror}): start no second grader", err=True)
    try:
        yield
    finally:
        lock.release()
