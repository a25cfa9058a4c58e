"""`lessons submit`: pack a lesson's folder for handing in, and say what the grader will miss."""

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lessons.check import find_folder
from lessons.folders import LESSON_NAME

if TYPE_CHECKING:
    from autograder.rubric import Rubric

LARGEST = 50_000_000  # bytes of all files together: outputs are text, a lesson's are far below 1 MB
NOT_ENTERED = {"checkpoints", "data", "build", "__pycache__"}
GAP = re.compile(r"NotImplementedError\(\s*[\"'](Exercise \d+\.\d+[a-z]?)")
KINDS = {".ipynb": "notebook", ".py": "programs", ".sbatch": "job files", ".sh": "job files"}


@dataclass
class Bundle:
    """What goes into the zip, by kind, and what stays out."""

    folder: Path
    files: dict[str, list[Path]] = field(default_factory=dict)  # kind -> paths in the folder
    left_out: list[str] = field(default_factory=list)

    def everything(self) -> list[Path]:
        return [path for paths in self.files.values() for path in paths]


def choose_files(folder: Path) -> Bundle:
    bundle = Bundle(folder)
    for relative, reason in walk(folder, Path()):
        kind = kind_of(relative)
        if kind is None or reason:
            bundle.left_out.append(f"{relative}{reason}")
        else:
            bundle.files.setdefault(kind, []).append(relative)
    return bundle


def walk(folder: Path, inside: Path) -> Iterator[tuple[Path, str]]:
    """Files below the folder, with the reason why one cannot be taken."""
    for path in sorted((folder / inside).iterdir()):
        relative = inside / path.name
        if path.name.startswith(".") or path.name in NOT_ENTERED:
            continue
        if path.is_symlink():
            yield relative, " (a link)"
        elif path.is_dir():
            yield from walk(folder, relative)
        elif not stat.S_ISREG(path.lstat().st_mode):
            yield relative, " (no regular file)"
        else:
            yield relative, ""


def kind_of(path: Path) -> str | None:
    """The grader's own rule says what an output is."""
    from autograder.collect import ANSWERS, is_wanted

    if path.name == ANSWERS:
        return "answers"
    if path.suffix in KINDS:
        return KINDS[path.suffix]
    return "outputs" if is_wanted(path.name) else None


def missing(bundle: Bundle, lesson: str) -> Iterator[str]:
    """Sentences about what the grader will not find."""
    from autograder import rubric
    from autograder.judge import matching
    from autograder.read import read_files

    file = rubric.FOLDER / f"{lesson}.yaml"
    asked = rubric.load_rubric(file) if file.exists() else None
    outputs = [bundle.folder / path for path in bundle.files.get("outputs", [])]
    runs = read_files(outputs)
    if not outputs:
        yield "no output of any job (*.out): submit the lesson's jobs and wait for their end"
    elif not runs:
        yield "no run in any output: did the jobs start their programs? look at the .err files"
    for run in runs:
        if run.outcome != "completed":
            yield f"{Path(run.files[0]).name}: its run did not end well ({run.outcome})"
    ended = [run for run in runs if run.outcome == "completed"]
    if asked and outputs:
        for name in sorted(needed_runs(asked)):
            if not matching(ended, asked, name):
                facts = ", ".join(f"{key} {value}" for key, value in asked.runs[name].where.items())
                yield f"no completed run of `{name}` ({facts})"
    yield from missing_answers(bundle, set(asked.answers) if asked else set())
    for path in bundle.everything():
        if path.suffix in (".py", ".ipynb"):
            text = (bundle.folder / path).read_text(encoding="utf-8", errors="replace")
            for exercise in sorted(set(GAP.findall(text.replace('\\"', '"')))):
                yield f"{path} still has the gap of {exercise}"
    if "notebook" not in bundle.files:
        yield "no notebook"


def needed_runs(asked: "Rubric") -> set[str]:
    """Names of the runs without which points are lost."""
    return {
        name
        for check in asked.checks
        if not check.if_present
        for condition in check.require
        for name in condition.of
    }


def missing_answers(bundle: Bundle, wanted: set[str]) -> Iterator[str]:
    from autograder.answers import read_answers

    if not wanted:
        return
    if "answers" not in bundle.files:
        yield "no answers.txt: the notebook's cells with `answers.note(…)` write it"
        return
    path = bundle.folder / bundle.files["answers"][0]
    given, findings = read_answers(path, path.name)
    for finding in findings:
        yield f"answers.txt: {finding.title}: {finding.found}"
    without = sorted(wanted - set(given))
    if without:
        yield f"answers.txt has no {', '.join(without)}"


def read_bundle(bundle: Bundle, lesson: str) -> dict[str, bytes]:
    """All contents by their names in the zip, or a sentence why not."""
    name = bundle.folder.name
    top = name if LESSON_NAME.fullmatch(name) else f"{lesson}_{name}"  # the grader reads the number
    sizes = {path: (bundle.folder / path).stat().st_size for path in bundle.everything()}
    if sum(sizes.values()) > LARGEST:
        largest = max(sizes, key=lambda path: sizes[path])
        raise click.ClickException(
            f"{sum(sizes.values()) / 1e6:.0f} MB are too much to hand in (at most "
            f"{LARGEST / 1e6:.0f} MB); the largest file is {largest} with "
            f"{sizes[largest] / 1e6:.0f} MB: is it an output?"
        )
    try:
        return {f"{top}/{path.as_posix()}": (bundle.folder / path).read_bytes() for path in sizes}
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}.") from error


@click.command("submit")
@click.argument("lesson", metavar="NN")
@click.option("--in", "inside", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Default: NN_….zip.")
def submit_command(lesson: str, inside: Path | None, out: Path | None) -> None:
    """Pack a lesson's folder for handing in, and say what the grader will miss in it."""
    from lessons.pack import write_zip

    folder = find_folder(lesson, inside)
    number = lesson.split("_")[0].zfill(2)
    if LESSON_NAME.fullmatch(folder.name) and folder.name[:2] != number:
        raise click.UsageError(f"{folder} is lesson {folder.name[:2]}, not {number}.")
    target = out or Path(f"{folder.name}.zip")
    if target.suffix != ".zip":
        raise click.UsageError(f"--out {target}: name a file that ends in .zip.")
    bundle = choose_files(folder)
    contents = read_bundle(bundle, number)
    problems = list(missing(bundle, number))
    write_zip(target, contents, frozenset())
    size = target.stat().st_size / 1000
    click.echo(f"{target}: {len(contents)} files of {folder.name}, {size:.0f} kB")
    for kind in ("notebook", "programs", "job files", "outputs", "answers"):
        names = ", ".join(map(str, bundle.files.get(kind, []))) or "none"
        click.echo(f"  {kind + ':':11}{names}")
    if bundle.left_out:
        click.echo(f"  left out:  {', '.join(bundle.left_out)}")
    if problems:
        click.echo("The grader will miss:")
        for problem in problems:
            click.echo(f"  - {problem}")
    else:
        click.echo("The grader will find all that the lesson asks for.")
