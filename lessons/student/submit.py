"""`lessons submit`: pack a lesson's folder for handing in, and say what the grader will miss."""

import contextlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lessons.folders import LESSON_NAME
from lessons.student.check import find_folder
from lessons.student.check_errors import NO_NOTEBOOK

if TYPE_CHECKING:
    from autograder.records import Run
    from autograder.settings.rubric_schema import Question, Rubric

LARGEST = 50_000_000  # bytes of all files together: outputs are text, a lesson's are far below 1 MB
NOT_ENTERED = {"checkpoints", "data", "build", "__pycache__"}
NAME = r"(Exercise \d+\.\d+[a-z]?|Predict|Answer)"
GAP = re.compile(rf"NotImplementedError\(\s*[\"']{NAME}: ")
# In a job file a gap is directives without values below its name, or commands that say its name.
JOB_GAP = re.compile(
    rf"^(?:# {NAME}: .*\n(?:#SBATCH .*\n)*?#SBATCH --[a-z-]+=\s*$|echo .{NAME}: )", re.M
)
PROGRAM = re.compile(r"^\s*launch\b.*?\s(\w+\.py)\b", re.M)
SOURCE = re.compile(r"\bsource *= *(.*)")  # of a program's record
WORD = re.compile(r"\"([\w-]+)\"")
COPIED = 2.0  # seconds between the times of files that were copied together
KINDS = {".ipynb": "notebook", ".py": "programs", ".sbatch": "job files", ".sh": "job files"}


@dataclass
class Bundle:
    """What goes into the zip, by kind, and what stays out."""

    folder: Path
    files: dict[str, list[Path]] = field(default_factory=dict)  # kind -> paths in the folder
    left_out: list[str] = field(default_factory=list)

    def everything(self) -> list[Path]:
        return [path for paths in self.files.values() for path in paths]


def choose_files(folder: Path, target: Path) -> Bundle:
    bundle = Bundle(folder)
    for relative, reason in walk(folder, Path()):
        if (folder / relative).absolute() == target.absolute():
            continue  # the package that this one replaces
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
    from autograder.submissions.file_kinds import ANSWERS, is_wanted

    if path.name == ANSWERS:
        return "answers"
    if path.suffix in KINDS:
        return KINDS[path.suffix]
    return "outputs" if is_wanted(path.name) else None


def missing(bundle: Bundle, lesson: str, runs: "list[Run]") -> Iterator[str]:
    """Sentences about what the grader will not find."""
    from autograder.judging.runs_that_count import matching
    from autograder.settings import rubric

    file = rubric.FOLDER / f"{lesson}.yaml"
    asked = rubric.load_rubric(file) if file.exists() else None
    outputs = bundle.files.get("outputs", [])
    known = [run for run in runs if run.format != "unknown"]  # err.txt has no run, and is right
    if not outputs:
        yield "no output of any job (*.out): submit the lesson's jobs and wait for their end"
    elif not known:
        yield "no run in any output: did the jobs start their programs? look at the .err files"
    ended = [run for run in known if run.outcome == "completed"]
    good = {source_of(run) for run in ended}
    yield from (
        said(run, bundle) for run in known if run not in ended and source_of(run) not in good
    )
    if asked and outputs:
        for name in sorted(needed_runs(asked)):
            if not matching(ended, asked, name):
                facts = ", ".join(f"{key} {value}" for key, value in asked.runs[name].where.items())
                job = job_of(bundle, asked.runs[name].where.get("source"))
                yield f"no completed run of `{name}` ({facts}){job}"
    yield from older_than_program(ended, bundle.folder)
    yield from missing_answers(bundle, asked.answers if asked else {})
    for path in bundle.everything():
        yield from gaps_in(bundle.folder, path)
    if "notebook" not in bundle.files:
        yield "no notebook"


def job_of(bundle: Bundle, source: object) -> str:
    """Words on the job file whose program names this source, if there is just one."""
    makers = set()
    for path in bundle.files.get("job files", []):
        for program in PROGRAM.findall(text_of(bundle.folder / path)):
            written = text_of(bundle.folder / program)
            sources = {word for line in SOURCE.findall(written) for word in WORD.findall(line)}
            if source in sources:
                makers.add(str(path))
    return f"; its job file is {makers.pop()}" if len(makers) == 1 else ""


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def not_counted(bundle: Bundle, runs: "list[Run]") -> Iterator[str]:
    """Runs that did not end well, where a run of the same program did, and jobs without any run."""
    good = {source_of(run) for run in runs if run.outcome == "completed"}
    for run in runs:
        output = next((Path(file).name for file in run.files if file.endswith(".out")), None)
        if run.format == "unknown" and output:
            error = next((Path(file).name for file in run.files if file.endswith(".err")), None)
            why = f"; {error} may say why" if error else ""
            yield f"{output}: there is no run in it ({run.outcome}){why}"
        if run.format != "unknown" and run.outcome != "completed" and source_of(run) in good:
            yield said(run, bundle)


def source_of(run: "Run") -> str:
    return str(run.header.get("source") or run.format)


def said(run: "Run", bundle: Bundle) -> str:
    """A sentence about a run that did not end well."""
    name = Path(run.files[0]).name
    if run.outcome == "incomplete" and still_running(run, bundle.folder):
        return f"{name}: its job is still running; wait for its end"
    return f"{name}: its run did not end well ({run.outcome})"


def still_running(run: "Run", folder: Path) -> bool:
    """Asked only where jobs run on this machine, which answers at once."""
    from cluster.schedulers import history
    from cluster.schedulers.known import scheduler_of
    from cluster.sites import site_files

    with contextlib.suppress(click.ClickException, OSError, ValueError, TypeError):
        job = history.with_id(str(run.job_id))
        if job and folder.resolve() in Path(job.job_file).parents:
            scheduler = scheduler_of(site_files.current(job.site))
            statuses = scheduler.statuses(job.job_id) if scheduler.RUNS_HERE else []
            return any(not status.over for status in statuses)
    return False


def older_than_program(ended: "list[Run]", folder: Path) -> Iterator[str]:
    """Of the runs with the same settings the latest counts: is it of the program as it is now?"""
    facts = ("source", "program", "model", "world_size", "global_batch", "lr", "dataset")
    latest = {}
    for run in sorted(ended, key=lambda run: run.began_ms or 0):
        latest[tuple(str(run.header.get(fact)) for fact in facts)] = run
    for run in latest.values():
        program = folder / Path(str(run.header.get("program") or "")).name
        output = Path(run.files[0])
        if program.is_file() and program.stat().st_mtime > output.stat().st_mtime + COPIED:
            yield f"{output.name} is older than {program.name}: run the job again"


def gaps_in(folder: Path, path: Path) -> Iterator[str]:
    """Gaps that are still open, once each; a notebook that is none."""
    text = (folder / path).read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".ipynb":
        try:
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
        except (ValueError, LookupError, TypeError, RecursionError):
            yield f"{path} {NO_NOTEBOOK}"
            return
    if path.suffix in (".sbatch", ".sh"):
        names = ["".join(found) for found in JOB_GAP.findall(text)]
    else:
        names = GAP.findall(text)
    for name in sorted(set(names)):
        yield f"{path} still has the gap of {name}"


def needed_runs(asked: "Rubric") -> set[str]:
    """Names of the runs without which points are lost."""
    return {
        name
        for check in asked.checks
        if not check.if_present
        for condition in check.require
        for name in condition.of
    }


def missing_answers(bundle: Bundle, wanted: "Mapping[str, Question]") -> Iterator[str]:
    from autograder.judging.judge_answers import of_another_kind
    from autograder.submissions.answers import read_answers

    if not wanted:
        return
    if "answers" not in bundle.files:
        yield "no answers.txt: the notebook's cells with `answers.note(…)` write it"
        return
    path = bundle.folder / bundle.files["answers"][0]
    given, findings = read_answers(path, path.name)
    for finding in findings:
        yield f"answers.txt: {finding.title}: {finding.found}"
    for name, question in wanted.items():
        if name in given and (kind := of_another_kind(question, given[name].text)):
            yield f"answers.txt: {name} = {given[name].text} is not what is asked, {kind}"
    without = sorted(set(wanted) - set(given))
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
    from autograder.reading.files import read_files
    from lessons.edition.pack import write_zip

    folder = find_folder(lesson, inside)
    number = lesson.split("_")[0].zfill(2)
    if LESSON_NAME.fullmatch(folder.name) and folder.name[:2] != number:
        raise click.UsageError(f"{folder} is lesson {folder.name[:2]}, not {number}.")
    target = out or Path(f"{folder.name}.zip")
    if target.suffix != ".zip":
        raise click.UsageError(f"--out {target}: name a file that ends in .zip.")
    bundle = choose_files(folder, target)
    contents = read_bundle(bundle, number)
    runs = read_files(folder / path for path in bundle.files.get("outputs", []))
    problems = list(dict.fromkeys(missing(bundle, number, runs)))
    extra = list(dict.fromkeys(not_counted(bundle, runs)))
    write_zip(target, contents, frozenset())
    size = target.stat().st_size / 1000
    click.echo(f"{target}: {len(contents)} files of {folder.name}, {size:.0f} kB")
    for kind in ("notebook", "programs", "job files", "outputs", "answers"):
        names = ", ".join(map(str, bundle.files.get(kind, []))) or "none"
        click.echo(f"  {kind + ':':11}{names}")
    if bundle.left_out:
        click.echo(f"  left out:  {', '.join(bundle.left_out)}")
    if extra:
        click.echo("Also in it, not counted:")
        for sentence in extra:
            click.echo(f"  - {sentence}")
    if problems:
        click.echo("The grader will miss:")
        for problem in problems:
            click.echo(f"  - {problem}")
    else:
        all_ = "all that gives points" if extra else "all that the lesson asks for"
        click.echo(f"The grader will find {all_}.")
