"""Write what `grade` found, and say what an instructor should know before the points go out."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from filelock import FileLock, Timeout

from autograder.commands.options import LoadedClass
from autograder.data_files import NEW, cannot_write, write as write_file, write_all
from autograder.errors import SettingsError
from autograder.report import changes, files
from autograder.report.exports import to_csv
from autograder.verdict import GRADER_ERROR, Grade
from autograder.wording import counted

MOST_CHANGES = 20  # lines on a terminal


def write(
    grades: Sequence[Grade],
    rows: Sequence[Grade],
    loaded: LoadedClass,
    out: Path | None,
    results: Path | None,
) -> list[str]:
    """Write all files, once each is complete, and return what to say about them and the rows."""
    settings, people, option = loaded.settings, loaded.people, loaded.options.get
    said: list[str] = []
    if out:
        tables = option("canvas"), option("moodle", ())
        named, said = files.of_class(rows, people, settings, *tables)
        named |= files.of_students(grades, rows, people, settings)
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
