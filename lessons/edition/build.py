"""Make the students' edition in lessons/ from solutions/ (`lessons build`).

Nobody edits the result by hand.
"""

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import click

from lessons.edition.for_grader import EXPECTED, old_files
from lessons.edition.gaps import SourceError, find_gaps, is_marker, without_solutions
from lessons.edition.notebook_pages import (
    checked_exercises,
    gaps_by_cell,
    lint_pages,
    name_cells,
    read_pages,
)
from lessons.folders import choose_lessons, course_root, lesson_folders, made_by_hand

LONGEST_PROGRAM = 200
LONGEST_JOB = 30
TEXT = (".py", ".sbatch", ".sh", ".md", ".txt", ".yml", ".yaml", ".toml", ".json", ".csv")
LONGEST_DIFF = 60


@dataclass
class Edition:
    """The required contents of lessons/ by relative path, and the problems found in the source."""

    files: dict[Path, bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def solution_notebook(text: str, file: str, lesson: str):
    """Return the instructor's notebook, with the same cell ids as the students' notebook."""
    notebook = read_pages(text, file)
    name_cells(notebook, lesson, gaps_by_cell(text, file))
    return notebook


def student_notebook(text: str, file: str, lesson: str) -> bytes:
    import nbformat

    solved = solution_notebook(text, file, lesson)
    notebook = read_pages(without_solutions(text, file), file)
    for cell, named in zip(notebook.cells, solved.cells, strict=True):
        cell["id"] = named["id"]
        cell.metadata = named.metadata
    nbformat.validate(notebook)
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode()


def build_lesson(folder: Path) -> Edition:
    """Return the students' files of one lesson, named relative to lessons/."""
    lesson, edition = folder.name[:2], Edition()
    exercises: dict[str, str] = {}
    checked: set[str] = set()
    for relative in made_by_hand(folder):
        if relative.name == EXPECTED:
            continue
        file = f"solutions/{folder.name}/{relative.as_posix()}"
        content = (folder / relative).read_bytes()
        try:
            if relative.suffix not in TEXT:
                edition.files[folder.name / relative] = content
                continue
            text = content.decode()
            for gap in find_gaps(text, file):
                if gap.number:
                    exercises.setdefault(gap.number, f"{file}:{gap.begin}")
            if relative.name == "lesson.py":
                notebook = solution_notebook(text, file, lesson)
                checked = checked_exercises(notebook)
                edition.problems += lint_pages(text, notebook, file, lesson)
                made = student_notebook(text, file, lesson)
                edition.files[Path(folder.name, f"{folder.name}.ipynb")] = made
            else:
                edition.problems += lint_length(text, file)
                edition.files[folder.name / relative] = without_solutions(text, file).encode()
        except UnicodeDecodeError:
            edition.problems.append(f"{file}:1: this text file is not UTF-8.")
        except SourceError as error:
            edition.problems.append(str(error))
    if not (folder / "lesson.py").exists():
        edition.problems.append(f"solutions/{folder.name}:1: there is no lesson.py.")
    for number, where in exercises.items():
        if int(number.split(".")[0]) != int(lesson):
            edition.problems.append(
                f"{where}: exercise {number} does not belong to lesson {lesson}."
            )
        elif checked and number not in checked:
            edition.problems.append(f"{where}: exercise {number} has no `check` cell in lesson.py.")
    return edition


def lint_length(text: str, file: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if not is_marker(line)]
    if file.endswith(".py") and len(lines) > LONGEST_PROGRAM:
        yield f"{file}:1: {len(lines)} lines; a program may have at most {LONGEST_PROGRAM}."
    if file.endswith(".sbatch") and len(lines) > LONGEST_JOB:
        yield f"{file}:1: {len(lines)} lines; a job file may have at most {LONGEST_JOB}."


def build(root: Path, asked: tuple[str, ...] = ()) -> Edition:
    whole = Edition()
    for folder in choose_lessons(root / "solutions", asked).values():
        edition = build_lesson(folder)
        whole.files.update(edition.files)
        whole.problems += edition.problems
    return whole


def strangers(root: Path, edition: Edition, asked: tuple[str, ...]) -> list[Path]:
    """Return unexpected files in the folders of built lessons, relative to lessons/."""
    built = {path.parts[0] for path in edition.files}
    found = []
    for folder in lesson_folders(root / "lessons").values():
        if folder.name in built or not asked:
            found += [folder.name / relative for relative in made_by_hand(folder)]
    return [path for path in found if path not in edition.files]


def drift(root: Path, edition: Edition, asked: tuple[str, ...]) -> Iterator[str]:
    """Yield unified diffs between the files in lessons/ and their required contents."""
    for path, made in sorted(edition.files.items()):
        there = root / "lessons" / path
        old = there.read_bytes() if there.is_file() else None
        if old == made:
            continue
        try:
            was, new = (old or b"").decode().splitlines(), made.decode().splitlines()
        except UnicodeDecodeError:
            yield f"lessons/{path} differs (not text)"
            continue
        before = f"lessons/{path}" if old is not None else "/dev/null"
        diff = list(difflib.unified_diff(was, new, before, f"built/{path}", lineterm=""))
        yield from diff[:LONGEST_DIFF]
        if len(diff) > LONGEST_DIFF:
            yield f"… {len(diff) - LONGEST_DIFF} more lines of this diff"
        if not diff:
            yield f"lessons/{path} should not be there: it is not made from solutions/"
    for path in strangers(root, edition, asked):
        yield f"lessons/{path} should not be there: it does not come from solutions/"
    for path, _ in old_files(root, asked):
        yield f"{path} is out of date"


def write(root: Path, edition: Edition, asked: tuple[str, ...]) -> Iterator[str]:
    """Update lessons/ and move the replaced files to a folder in build/.

    The replaced files are kept because somebody may have filled in their gaps to try a lesson.
    """
    now = f"{datetime.now():%Y-%m-%d_%H%M%S_%f}"
    before = root / "build" / "replaced-in-lessons" / now
    for path, made in sorted(edition.files.items()):
        there = root / "lessons" / path
        if there.is_file() and there.read_bytes() == made:
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.is_file():
            (before / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(there, before / path)
        replace_file(there, made)
        yield f"wrote lessons/{path}"
    if before.is_dir():
        yield f"the previous files are in {before.relative_to(root)}"
    aside = root / "build" / "moved-out-of-lessons" / now
    for path in strangers(root, edition, asked):
        target = aside / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(root / "lessons" / path, target)
        yield f"moved lessons/{path} to {target.relative_to(root)}: not made from solutions/"
    for folder in lesson_folders(root / "lessons").values():
        if not any(folder.iterdir()):
            folder.rmdir()
    for path, made in old_files(root, asked):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        replace_file(root / path, made)
        yield f"wrote {path}"


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically, so that an interruption leaves no partial file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.chmod(name, 0o644)
    os.replace(name, path)


@click.command(
    "build",
    epilog=(
        "Exit code 0: done, or with --check nothing to do; 1: with --check, lessons/ is out of "
        "date; 2: wrong usage."
    ),
)
@click.argument("lessons", metavar="[NN]...", nargs=-1)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 with a diff if lessons/ is out of date."
)
def build_command(lessons: tuple[str, ...], check: bool) -> None:
    """Make lessons/ from solutions/: lesson.py becomes NN_name.ipynb, solutions become gaps."""
    root = course_root()
    if not (root / "solutions").is_dir():
        raise click.ClickException(
            "There is no solutions/ folder here: this is the students' edition, already built."
        )
    edition = build(root, lessons)
    if edition.problems:
        raise click.ClickException("\n".join(["the lessons' sources:", *edition.problems]))
    if not check:
        changes = list(write(root, edition, lessons))
        click.echo("\n".join(changes) if changes else "lessons/ is up to date")
        return
    differences = list(drift(root, edition, lessons))
    if differences:
        click.echo("\n".join(differences))
        raise click.ClickException(
            "lessons/ is out of date: run `lessons build` and commit the result."
        )
    click.echo("lessons/ is up to date")
