"""Make a site of the executed lessons, the documentation and a glossary (`lessons book`)."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from lessons.book.executed import Executed, look_up
from lessons.book.pages import readable_source, write_source
from lessons.book.site import NEEDED, make_site
from lessons.edition.build import build
from lessons.edition.release import leaks_in, squeezed
from lessons.folders import course_root, lesson_folders

MARK = ".lessons-book"  # marks a folder that this command made and may replace
MOST_TOLD = 20


@click.command(
    "book",
    epilog="Exit code 0: every lesson has outputs, or --partial; 1: a lesson has none; 2: "
    "mistyped.",
)
@click.option(
    "--from",
    "runs",
    type=click.Path(path_type=Path),
    help="Folder with the executed lessons (the --out of `lessons run`).",
)
@click.option("--out", type=click.Path(path_type=Path), help="Default: build/book.")
@click.option("--solutions", is_flag=True, help="Include the solutions, for instructors.")
@click.option("--partial", is_flag=True, help="Exit 0 even if lessons have no outputs.")
def book_command(runs: Path | None, out: Path | None, solutions: bool, partial: bool) -> None:
    """Build a website of the course: its lessons with their output and pictures.

    Without --from, it first executes the lessons whose output in build/book-runs is missing or out
    of date. Executing all of them takes about 15 minutes on two cores.
    """
    root = course_root()
    if not (root / "solutions").is_dir():
        raise click.ClickException(
            "There is no solutions/ folder here: this is the students' edition. The book can "
            "only be made from the complete course."
        )
    if lacking := [name for name in NEEDED if find_spec(name) is None]:
        raise click.ClickException(
            f"The book needs {', '.join(lacking)}. Install with `make .venv`."
        )
    out = (out or root / "build" / "book").resolve()
    if out.exists() and not (out / MARK).is_file() and (out.is_file() or any(out.iterdir())):
        raise click.UsageError(f"{out} is not a book. Choose a new folder with --out.")
    if runs is not None and not runs.is_dir():
        raise click.UsageError(f"--from {runs}: this folder does not exist.")
    edition = build(root)
    if edition.problems:
        raise click.ClickException("\n".join(["the lessons' sources:", *edition.problems]))
    if runs is None:
        runs = root / "build" / "book-runs"
        run_missing(root, runs)
    found = {
        folder.name: look_up(runs.resolve(), folder)
        for folder in lesson_folders(root / "solutions").values()
    }
    executed = {name: one for name, one in found.items() if isinstance(one, Executed)}
    click.echo(f"{len(executed)} of {len(found)} lessons have outputs; writing the pages …")
    making = out.with_name(f"{out.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        write_source(root, making / "source", edition, executed, solutions)
        if not solutions:
            refuse_leaks(root, making / "source")
        warnings = make_site(making / "source", making / "site", making / "doctrees")
        if warnings:  # such as a link that leads nowhere
            told = [warning.replace(f"{making}/", "") for warning in warnings[:MOST_TOLD]]
            raise click.ClickException("\n".join(["no book was made:", *told]))
        (making / "site" / MARK).touch()
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        (making / "site").rename(out)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    click.echo(str(out / "index.html"))
    missing = [one for one in found.values() if isinstance(one, str)]
    for sentence in missing:
        click.echo(f"without outputs: {sentence}")
    sys.exit(1 if missing and not partial else 0)


def refuse_leaks(root: Path, source: Path) -> None:
    """Refuse to publish solutions.

    It searches in the same way as `lessons release`, and also in the output of cells.
    """
    texts = {}
    for name, text in readable_source(source):
        # The lines of a printed diff begin with a sign.
        signs = "\n".join(line[1:] for line in text.splitlines())
        texts[name] = squeezed(f"{text}\n{signs}")
    found = list(leaks_in(root, texts))
    if found:
        raise click.ClickException("\n".join(["no book was made:", *found[:MOST_TOLD]]))


def run_missing(root: Path, runs: Path) -> None:
    """Execute the lessons whose outputs are missing or were made from older files.

    Failures are reported later, when `runs` is read.
    """
    from lessons.execute.run_command import run_command

    folders = lesson_folders(root / "solutions")
    missing = [n for n, folder in folders.items() if isinstance(look_up(runs, folder), str)]
    if not missing:
        return
    click.echo(f"Executing {', '.join(missing)}: about a minute each on two cores")
    for number in missing:
        for left in runs.glob(f"{folders[number].name}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    words = [*missing, "--edition", "solutions", "--out", str(runs)]
    try:
        run_command.main(words, standalone_mode=False)
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code >= 128:  # a signal stopped the run
            raise
