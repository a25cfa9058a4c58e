"""Read and write manifest.csv: who submitted what. `autograder collect` writes it.

The instructor may edit it. Collecting again keeps these edits and replaces everything else. A
hidden copy holds the rows of the last collection. A cell that differs from the copy was edited. An
edit that describes a submission no longer applies when another one replaces that submission.

folder,students,group,lesson,submitted,late,from,doubts
ada/02,ada,,02,2026-03-01T20:00:00+00:00,,moodle,
team 1/02,ada; ben,team 1,02,,yes,canvas,archive unopened: work.zip: cut off
"""

import csv
import io
from collections.abc import Collection, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

from autograder.data_files import write as write_file
from autograder.errors import SettingsError
from autograder.notes import Note
from autograder.safe_text import csv_cell, shortened
from autograder.strict_csv import read_csv
from autograder.submissions import doubts
from autograder.submissions.moments import read_moment

NAME, COPY = "manifest.csv", ".collected.csv"
COLUMNS = ("folder", "students", "group", "lesson", "submitted", "late", "from", "doubts")
# Edits of these cells end when another submission replaces this one.
ABOUT_SUBMISSION = {"lesson", "submitted", "late"}
AND = "; "  # between students


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a line, in the order of the columns."""

    folder: str  # below the class: `ada/02`
    students: str = ""  # empty: not graded
    group: str = ""
    lesson: str = ""
    submitted: str = ""
    late: str = ""
    origin: str = ""  # the platform
    doubts: str = ""

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(filter(None, (name.strip() for name in f"{self.students} ".split(AND))))


Rows = dict[str, Row]  # by folder


def read(path: Path) -> Rows | None:
    """Return the manifest's rows by folder, or None if there is no manifest.

    Mistakes raise SettingsError.
    """
    if not path.is_file():
        return None
    rows: Rows = {}
    for where, cells in read_csv(path, COLUMNS[:1], COLUMNS[1:]):
        row = Row(*(unquoted(cells.get(name, "")) for name in COLUMNS))
        folder = Path(row.folder)
        if folder.is_absolute() or ".." in folder.parts:
            raise SettingsError(f"{where}: {shortened(row.folder)} is not a folder in the class")
        if row.folder in rows:
            raise SettingsError(f"{where}: {shortened(row.folder)} has two rows: remove one")
        if row.late not in ("", "yes"):
            late = shortened(row.late)
            raise SettingsError(f"{where}: `late` must be yes or empty, not {late!r}")
        if row.submitted:
            read_moment(row.submitted, where)
        doubts_in(row, where)
        rows[row.folder] = row
    return rows


def doubts_in(row: Row, where: str = NAME) -> list[Note]:
    try:
        return doubts.parse(row.doubts)
    except ValueError as error:
        raise SettingsError(
            f"{where}: unknown doubt {shortened(error)!r}. If it is settled, empty the cell"
        ) from None


def is_doubtful(row: Row) -> bool:
    """Return whether a person should review this row's doubts. Some are only informational."""
    return any(doubt.look for doubt in doubts_in(row))


def reasons(rows: Iterable[Row]) -> list[str]:
    """Return a sentence on each row: its folder and the doubts that a person should settle."""
    return [f"{row.folder} ({'; '.join(note.actual for note in doubts_in(row))})" for row in rows]


def written(rows: Iterable[Row]) -> str:
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for row in sorted(rows, key=lambda row: row.folder):
        lines.writerow(csv_cell(cell, 10_000) for cell in astuple(row))
    return text.getvalue()


def unquoted(cell: str) -> str:
    """Return a cell as it was before a sign kept spreadsheets from reading it as a formula."""
    return cell[1:] if csv_cell(cell[1:], 10_000) == cell else cell


# --- collecting again -----------------------------------------------------------------------------


def update(home: Path, collected: Rows, replaced: Collection[str]) -> tuple[Rows, list[str]]:
    """Write the manifest and the hidden copy. Return its rows, and edits that no longer apply."""
    before, edited = read(home / COPY) or {}, read(home / NAME)
    rows, ended = merged(before, before if edited is None else edited, collected, replaced)
    write_file(home / NAME, written(rows.values()))
    write_file(home / COPY, written(collected.values()))
    return rows, ended


def merged(
    before: Rows, edited: Rows, collected: Rows, replaced: Collection[str] = ()
) -> tuple[Rows, list[str]]:
    """Return the collected rows with the edits applied, and the edits that no longer apply.

    `replaced`: the folders whose files another submission replaced. Rows of an earlier collection
    whose folder is gone are left out.
    """
    rows = {name: row for name, row in edited.items() if name in collected or name not in before}
    ended = []
    for folder, new in sorted(collected.items()):
        old = before.get(folder, Row(folder))  # empty if the instructor wrote the row by hand
        cells = asdict(edited.get(folder, old))
        edits = {name: cell for name, cell in cells.items() if cell != getattr(old, name)}
        if folder in replaced and folder in before:
            for name in edits.keys() & ABOUT_SUBMISSION:
                ended.append(f"{folder} ({name} {edits.pop(name) or 'empty'})")
        if "doubts" in edits:  # settled doubts stay settled, and new ones are added
            added = [doubt for doubt in doubts_in(new) if doubt not in doubts_in(old)]
            edits["doubts"] = doubts.written([*doubts.parse(cells["doubts"]), *added])
        rows[folder] = replace(new, **edits)
    return rows, sorted(ended)
