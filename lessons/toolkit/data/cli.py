"""The command `lessons data`: fetch, verify and list the data sets on this machine."""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from autograder.errors import SettingsError
from autograder.json_lists import print_json, with_json
from lessons.toolkit.data import catalogue, contents, fetch, places
from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.download import AT_LEISURE
from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.places import DataFolder

VERIFIED, UNCHECKED, MISSING, BROKEN = "verified", "not checked", "missing", "broken"
COLUMNS = ("data set", "file", "size", "state", "where")


@dataclass(frozen=True)
class State:
    """The state of one file: its path, its status and, if it is broken, a sentence in `problem`."""

    file: File
    path: Path | None
    state: str
    problem: str | None = None


class Sentences(click.Group):
    """A click group that prints a DataError as a sentence, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DataError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Sentences, name="data", context_settings={"help_option_names": ["-h", "--help"]})
def data_group() -> None:
    """Fetch, verify and list the data sets.

    It looks in the folder that COURSE_DATA names, then in a cache folder
    (COURSE_DATA_CACHE or, if it is not set, ~/.cache/dl-course/data).
    """


@data_group.command("fetch")
@click.argument("names", nargs=-1)
@click.option(
    "--out", "folder", type=click.Path(path_type=Path), help="Fill this folder, for COURSE_DATA."
)
def fetch_command(names: tuple[str, ...], folder: Path | None) -> None:
    """Download or repair the data sets on this machine: all of them, or only those named."""
    where = [DataFolder("--out", folder.absolute())] if folder else places.places()
    target = folder.absolute() if folder else places.cache_folder()
    problems: list[str] = []
    for entry in _entries(names):
        try:
            fetch.fetch(entry, target, where, AT_LEISURE, mend=True)
            fetch.unpack(entry, target, where)
        except DataError as error:
            problems.append(str(error))
            continue
        except OSError as error:
            raise fetch.cannot_write(target, error) from error
        states = inspect(entry, where, open_archives=True)
        problems += (bad := _problems(entry, states))
        if not bad:
            folders = dict.fromkeys(str(state.path.parent) for state in states if state.path)
            click.echo(f"{entry.title} is complete and verified in {', '.join(folders)}")
    _end(problems)


@data_group.command("status")
@click.argument("names", nargs=-1)
@with_json
def status_command(names: tuple[str, ...], as_json: bool) -> None:
    """Show which files exist, where they are, and whether their contents are correct."""
    rows = []
    todo = [_no_folder(place) for place in places.places() if place.why == "COURSE_DATA"]
    for entry in _entries(names):
        states = inspect(entry, places.places(), open_archives=False)
        rows += _rows(entry, states)
        todo.append(_not_complete(entry, states))
    _show(rows, as_json)
    for sentence in filter(None, todo):
        click.echo(sentence, err=True)


@data_group.command(
    "verify", epilog="Exit code 0: all files are right; 1: one is missing or broken; 2: mistyped."
)
@click.argument("names", nargs=-1)
@with_json
def verify_command(names: tuple[str, ...], as_json: bool) -> None:
    """Compare every file with its checksum; exit 1 if one is missing or broken."""
    rows = []
    problems: list[str] = []
    for entry in _entries(names):
        states = inspect(entry, places.places(), open_archives=True)
        rows += _rows(entry, states)
        problems += _problems(entry, states)
    _show(rows, as_json)
    _end(problems)


def _entries(names: tuple[str, ...]) -> list[Entry]:
    try:
        return [catalogue.entry(name) for name in names or catalogue.catalogue()]
    except DataError as error:
        raise SettingsError(str(error)) from None


def _problems(entry: Entry, states: list[State]) -> list[str]:
    problems = list(dict.fromkeys(state.problem for state in states if state.problem))
    return problems + list(filter(None, [_not_complete(entry, states)]))


def _not_complete(entry: Entry, states: list[State]) -> str:
    """Return what is missing and what to do, or an empty string."""
    missing = [state.file.name for state in states if state.state == MISSING]
    if not missing:
        return ""
    return (
        f"{entry.title} is not complete: {len(missing)} of {len(entry.files)} files are "
        f"missing ({', '.join(missing)}). Run `lessons data fetch {entry.name}` where there is "
        "internet."
    )


def _no_folder(place: DataFolder) -> str:
    if place.folder.is_dir():
        return ""
    return (
        f"{place.why} names {place.folder}, and there is no such folder: correct it, or fill it "
        f"with `lessons data fetch --out {place.folder}` where there is internet."
    )


def _rows(entry: Entry, states: list[State]) -> list[tuple[str, ...]]:
    return [
        (
            entry.name,
            state.file.name,
            f"{state.file.bytes / 1e6:.2f} MB",
            state.state,
            str(state.path or "-"),
        )
        for state in states
    ]


def _show(rows: list[tuple[str, ...]], as_json: bool) -> None:
    if as_json:
        print_json([dict(zip(COLUMNS, row, strict=True)) for row in rows])
        return
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(*COLUMNS, box=None)
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    for row in (COLUMNS, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _end(problems: list[str]) -> None:
    for problem in problems:
        click.echo(f"Error: {problem}", err=True)
    if problems:
        raise click.exceptions.Exit(1)


# --- the files on this machine, and whether they are right --------------------------------------


def inspect(entry: Entry, where: list[DataFolder], open_archives: bool) -> list[State]:
    """Return the state of each file in catalogue order.

    Inspecting archives takes seconds. If this is skipped, an archive counts as verified
    only if it equals the catalogued archive byte for byte.
    """
    found = places.find(entry, where)
    states = {file: State(file, None, MISSING) for file in entry.files if file not in found}
    for path in dict.fromkeys(found.values()):
        files = {file: path for file in found if found[file] == path}
        if places.is_archive(path) and not open_archives:
            state = VERIFIED if _is_catalogued(entry, path) else UNCHECKED
            states |= {file: State(file, path, state) for file in files}
        else:
            states |= _verify(entry, files)
    return [states[file] for file in entry.files]


def _verify(entry: Entry, files: dict[File, Path]) -> dict[File, State]:
    states = {}
    problem = None
    try:
        for file, _ in contents.read(entry, files):
            states[file] = State(file, files[file], VERIFIED)
    except DataError as error:
        problem = str(error)
    rest = {f: State(f, path, BROKEN, problem) for f, path in files.items() if f not in states}
    return states | rest


def _is_catalogued(entry: Entry, path: Path) -> bool:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return False
    return any(pack.sha256 == digest for pack in entry.packs)
