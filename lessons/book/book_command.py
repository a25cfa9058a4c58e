"""Make a site of the executed lessons, the documentation and a glossary (`lessons book`)."""

import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import click

from lessons.book.executed import Executed, look_up
from lessons.book.links import broken, external, read_pages
from lessons.book.run_missing import run_missing
from lessons.book.site import NEEDED, make_site
from lessons.book.source_tree import readable_source, write_source
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
        raise click.UsageError(
            f"--from {runs}: there is no such folder. Name the --out folder of `lessons run`."
        )
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
    started = time.monotonic()
    click.echo(f"{len(executed)} of {len(found)} lessons have outputs; writing the pages …")
    making = out.with_name(f"{out.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        write_source(root, making / "source", edition, executed, solutions)
        if not solutions:
            refuse_leaks(root, making / "source")
        pages, outside = write_pages(making)
        replace(out, making / "site")
    finally:
        shutil.rmtree(making, ignore_errors=True)
    seconds = time.monotonic() - started
    click.echo(
        f"{out / 'index.html'}: {pages} pages in {seconds:.0f} s; all internal links work, "
        f"{outside} external ones were not tried (external-links.txt)"
    )
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


def write_pages(making: Path) -> tuple[int, int]:
    """Write the site, and return the number of pages and of external links."""
    warnings = make_site(making / "source", making / "site", making / "doctrees")
    site = making / "site"
    pages = read_pages(site)
    problems = warnings + broken(site, pages)
    if problems:
        told = [problem.replace(f"{making}/", "") for problem in problems[:MOST_TOLD]]
        raise click.ClickException("\n".join(["no book was made:", *told]))
    links = external(pages)
    (site / "external-links.txt").write_text("\n".join([*links, ""]), encoding="utf-8")
    return len(pages), len(links)


def replace(out: Path, site: Path) -> None:
    (site / MARK).touch()
    old = out.with_name(f"{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    out.parent.mkdir(parents=True, exist_ok=True)
    site.rename(out)
    shutil.rmtree(old, ignore_errors=True)
