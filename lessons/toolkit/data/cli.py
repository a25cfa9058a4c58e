"""The command `lessons data`: fetch the data sets of this machine, and show their state."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click

from lessons.toolkit.data import catalogue, fetch, files
from lessons.toolkit.data.catalogue import Entry
from lessons.toolkit.data.errors import DataError

EXIT_CODES = "Exit code 0: all files are right; 1: one is missing or broken; 2: wrong usage."
SETS = sorted(catalogue.catalogue())
COLUMNS = ("data set", "file", "bytes", "state", "where")


@click.group(name="data", context_settings={"help_option_names": ["-h", "--help"]})
def data_group() -> None:
    """Fetch the data sets, and show which are here.

    It looks in the folder that COURSE_DATA names, then in a cache folder
    (COURSE_DATA_CACHE or, if it is not set, ~/.cache/dl-course/data).
    """


@data_group.command("fetch", epilog=EXIT_CODES)
@click.argument("names", nargs=-1, type=click.Choice(SETS))
@click.option(
    "--out", "folder", type=click.Path(path_type=Path), help="Fill this folder, for COURSE_DATA."
)
def fetch_command(names: tuple[str, ...], folder: Path | None) -> None:
    """Download or repair the data sets on this machine: all of them, or only those named."""
    target = folder.absolute() if folder else files.cache_folder()
    where = [target] if folder else files.folders()
    problems = []
    for name in names or SETS:
        try:
            fetch.fetch(catalogue.entry(name), target, where, mend=True)
        except DataError as error:
            problems.append(str(error))
    _show(names, where, problems, as_json=False)


@data_group.command("status", epilog=EXIT_CODES)
@click.argument("names", nargs=-1, type=click.Choice(SETS))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object per row.")
def status_command(names: tuple[str, ...], as_json: bool) -> None:
    """Show where each file is, and compare it with its checksum."""
    _show(names, files.folders(), [], as_json)


def _show(names: tuple[str, ...], where: list[Path], problems: list[str], as_json: bool) -> None:
    """Print the state of each file, then what is wrong and what to do. Exit with 1 if it is."""
    if "COURSE_DATA" in os.environ and not where[0].is_dir():
        problems.append(f"there is no folder {where[0]}: correct COURSE_DATA, or see below")
    rows: list[tuple[str, ...]] = []
    for entry in map(catalogue.entry, names or SETS):
        for row, problem in _states(entry, where):
            rows.append(row)
            problems += [problem] if problem and problem not in problems else []
    if as_json:
        listed = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        click.echo(json.dumps(listed, indent=1, ensure_ascii=False))
    else:
        widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
        for row in (COLUMNS, *rows):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo(line.rstrip())
    for problem in problems:
        click.echo(f"Error: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


def _states(entry: Entry, where: list[Path]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield a row of COLUMNS for each file, and a sentence if the file is broken or missing."""
    found = files.find(entry, where)
    problems: dict[Path, str] = {}
    for file in entry.files:
        path = found.get(file)
        if path and path not in problems:
            problems[path] = files.problem(entry, path, found)
        state = "missing" if path is None else "broken" if problems[path] else "verified"
        again = f"run `lessons data fetch {entry.name}` where there is internet."
        problem = problems[path] if path else f"{entry.title} is not complete: {again}"
        yield (entry.name, file.name, f"{file.bytes:,}", state, str(path or "-")), problem
