"""`lessons check`: the public checks of a lesson on a student's folder, from the terminal."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lessons.edition.notebook_pages import CHECK_CALL, checked_exercises
from lessons.execute.processes import MARK, stop_marked
from lessons.folders import choose_lessons, course_root
from lessons.student.check_errors import (
    ESCAPES,
    NO_NOTEBOOK,
    SYNTAX_ERRORS,
    error_of,
    explained,
    missing_file,
    name_of,
    number_of,
)

NEEDED = {"parameters", "setup", "exercise", "check"}
EXERCISE_SECONDS = 30
IMPORT_SECONDS = 120  # of cells that import: TensorFlow takes up to 20 s on a slow machine
IMPORTS = re.compile(r"^\s*(import|from)\b|\breload\(", re.M)
ONE_EXERCISE = re.compile(r"(\d+)\.\d+[a-z]?")  # 3.2, which somebody types for 03
TOO_LONG = "TooLong"
NOT_COPIED = ("checkpoints", "*.npy", ".*", "__pycache__", "*.h5", "*.pt", "*.keras")


@dataclass(frozen=True)
class Result:
    exercise: str  # "2.1"
    status: str  # passed, still a gap, not yet
    said: str = ""  # expected, found and try, or the error


def check_folder(folder: Path, wanted: set[str]) -> tuple[list[Result], list[str]]:
    """Results in the order of the notebook, and what went wrong in other cells than checks."""
    notebook = read_notebook(folder / "lesson.ipynb")
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and NEEDED & set(cell.metadata.get("tags", []))
    ]
    if not checked_exercises(notebook):
        raise click.ClickException(f"{folder / 'lesson.ipynb'} has no check cells.")
    execute(notebook, folder)
    said_of = {id(cell): said for cell, said in explained(notebook.cells, folder)}
    broken = {
        number_of(cell): said_of[id(cell)]
        for cell in notebook.cells
        if "check" not in cell.metadata.tags and error_of(cell).startswith(SYNTAX_ERRORS)
    }
    results = []
    for cell in notebook.cells:
        if "check" in cell.metadata.tags:
            numbers = {f"{a}.{b}" for a, b in CHECK_CALL.findall(cell.source)}
            for number in sorted(numbers):
                result = judge(number, cell, said_of.get(id(cell), ""))
                if number in broken and result.status != "passed":
                    result = Result(number, "not yet", broken[number])
                results.append(result)
    told = {result.said for result in results}
    faults = [fault for cell in notebook.cells for fault in fault_of(cell, said_of.get(id(cell)))]
    faults = [fault for fault in faults if fault not in told]
    missing = sorted(wanted - {result.exercise for result in results})
    results += [
        Result(number, "not yet", "its check cell is gone; take a fresh copy") for number in missing
    ]
    return results, faults


def read_notebook(path: Path) -> Any:
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError as error:
        raise click.ClickException(f"{missing_file(path.name, path.parent)}.") from error
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from error
    except Exception as error:
        raise click.ClickException(f"{path} {NO_NOTEBOOK}.") from error


def fault_of(cell: Any, said: str | None) -> Iterator[str]:
    """A cell that is no check may need what only a job's output gives; not so for these."""
    if not said or "check" in cell.metadata.tags:
        return
    if "setup" in cell.metadata.tags:
        yield f"setup cell `{cell.source.strip().splitlines()[0]} …`: {said}"
    elif error_of(cell).startswith(TOO_LONG):
        yield f"{name_of(cell)}: {said.removeprefix(f'{TOO_LONG}: ')}"
    elif error_of(cell).startswith(SYNTAX_ERRORS):
        yield said


def seconds_for(cell: Any) -> int:
    """An exercise is quick; what is slow is to import a framework."""
    tags = set(cell.metadata.get("tags", []))
    quick = "exercise" in tags or ("check" in tags and not IMPORTS.search(cell.source))
    return EXERCISE_SECONDS if quick else IMPORT_SECONDS


def execute_cell(client: Any, cell: Any, index: int) -> None:
    """Run one cell; one that takes too long is interrupted, and the next ones still run."""
    from nbformat.v4 import new_output

    began = time.monotonic()
    client.execute_cell(cell, index)
    limit = seconds_for(cell)
    if time.monotonic() - began >= limit:
        said = f"stopped after {limit} s: is there a loop that never ends?"
        cell.outputs = [new_output("error", ename=TOO_LONG, evalue=said, traceback=[])]


def execute(notebook: Any, folder: Path) -> None:
    """Run the cells in a copy of the folder: checking changes nothing of the student's."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError
    from rich.console import Console

    from lessons.execute.loop import Stopped, stoppable
    from lessons.execute.run_command import course_environment

    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as copy:
        place = Path(copy) / folder.name
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns(*NOT_COPIED))
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            allow_errors=True,
            timeout_func=seconds_for,
            interrupt_on_timeout=True,
            # Also a cell that takes no interrupt is left after its time.
            error_on_timeout={"ename": TOO_LONG, "evalue": "", "traceback": []},
            resources={"metadata": {"path": str(place)}},
        )
        environment = dict(os.environ) | course_environment() | {MARK: mark}
        try:
            # Not client.execute(): that takes Ctrl-C for itself and ends in a traceback.
            with (
                stoppable(),
                client.setup_kernel(env=environment, stderr=subprocess.DEVNULL),
                Console(stderr=True).status("starting") as status,  # nothing but on a terminal
            ):
                for index, cell in enumerate(notebook.cells):
                    status.update(name_of(cell).replace("[", r"\["))
                    execute_cell(client, cell, index)
        except Stopped as stopped:
            click.echo("stopped; nothing was changed", err=True)
            sys.exit(128 + stopped.signum)
        except DeadKernelError as error:
            raise click.ClickException("the notebook's kernel died while checking.") from error
        finally:
            stop_marked(mark)


def judge(exercise: str, cell: Any, explanation: str) -> Result:
    """From what the check cell shows, as the student would see it."""
    printed = ESCAPES.sub("", "".join(o.text for o in cell.outputs if o.output_type == "stream"))
    error = error_of(cell)
    if not error:
        said = "".join(printed.strip().splitlines()[-1:])
        return Result(exercise, "passed", said.removeprefix(f"Exercise {exercise}: right. "))
    name, _, words = error.partition(": ")
    if name in ("NotImplementedError", "StillAGap"):
        return Result(exercise, "still a gap", words.partition(": ")[2] or words)
    if name == TOO_LONG:
        return Result(exercise, "not yet", words)
    if name == "CheckFailed":
        return Result(exercise, "not yet", words.removeprefix(f"Exercise {exercise}\n"))
    return Result(exercise, "not yet", explanation)


def find_folder(number: str, inside: Path | None) -> Path:
    """The folder with the student's lesson.ipynb."""
    if inside is None:
        [folder] = choose_lessons(course_root() / "lessons", [number]).values()
        refuse_other_checkout(folder)
        return folder
    places = [inside, *choose_places(inside, number)]
    for place in places:
        if (place / "lesson.ipynb").is_file():
            return place.resolve()
    raise click.UsageError(f"There is no lesson.ipynb in {inside}; name the lesson's folder.")


def refuse_other_checkout(folder: Path) -> None:
    """Who stands in one clone and has another one's environment active means the first."""
    here = checkout_of(Path.cwd())
    if here is None or here == course_root():
        return
    activate = here / ".venv" / "bin" / "activate"
    cure = f"`source {activate}`" if activate.is_file() else f"activate {here.name}'s environment"
    raise click.ClickException(
        f"You are in the course {here}, but this command belongs to another one and would take "
        f"{folder}: {cure} first, or name the folder that you mean with --in."
    )


def checkout_of(place: Path) -> Path | None:
    """The course, cloned or unpacked, in which a place lies."""
    around = (place, *place.parents)
    return next((one for one in around if (one / "lessons" / "toolkit").is_dir()), None)


def choose_places(inside: Path, number: str) -> list[Path]:
    prefix = number.split("_")[0].zfill(2)
    return sorted(path for path in inside.glob(f"{prefix}_*") if path.is_dir())


def exercises_of_course(number: str) -> set[str]:
    """The exercises that the lesson as handed out has checks for."""
    import nbformat

    try:
        [folder] = choose_lessons(course_root() / "lessons", [number]).values()
        return checked_exercises(nbformat.read(folder / "lesson.ipynb", as_version=4))
    except (click.UsageError, OSError, ValueError):
        return set()


@click.command("check")
@click.argument("lesson", metavar="NN")
@click.option("--in", "inside", type=click.Path(exists=True, file_okay=False, path_type=Path))
def check_command(lesson: str, inside: Path | None) -> None:
    """Run a lesson's public checks on your folder, without its jobs. Nothing in it changes."""
    from rich.console import Console
    from rich.table import Table

    if one := ONE_EXERCISE.fullmatch(lesson):
        command = f"lessons check {one[1].zfill(2)}" + (f" --in {inside}" if inside else "")
        raise click.UsageError(
            f"{lesson} is one exercise, and a lesson is checked as a whole. Type: {command}"
        )
    folder = find_folder(lesson, inside)
    if folder != Path.cwd():
        click.echo(f"Checking {folder}")
    results, faults = check_folder(folder, exercises_of_course(lesson))
    for fault in faults:
        click.echo(fault)
    terminal = sys.stdout.isatty()
    table = Table("exercise", "result", "what", title=folder.name, title_justify="left")
    colours = {"passed": "green", "still a gap": "yellow", "not yet": "red"}
    for result in results:
        style = f"[{colours[result.status]}]{result.status}[/]"
        table.add_row(result.exercise, style, result.said.replace("[", r"\["))
    Console(width=None if terminal else 100).print(table)
    passed = sum(result.status == "passed" for result in results)
    click.echo(f"{passed} of {len(results)} exercises passed")
    sys.exit(0 if passed == len(results) and not faults else 1)
