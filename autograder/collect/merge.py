"""Update manifest.csv after collecting again: keep the instructor's edits, replace all else.

A hidden copy holds the rows of the last collection. A cell that differs from the copy was edited.
An edit that describes a submission no longer applies when another one replaces that submission. The
copy also records the time of each attempt.
"""

from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path

from autograder.submissions import doubts, manifest
from autograder.submissions.manifest import ATTEMPT, Row, doubts_in
from autograder.writing import write_if_new

COPY = ".collected.csv"
ABOUT_SUBMISSION = ("lesson", "submitted", "late")  # edits end when a submission is replaced
Rows = dict[str, Row]


def collected_before(home: Path) -> Rows:
    return manifest.read(home / COPY) or {}


def write(home: Path, collected: Rows, replaced: Collection[str]) -> tuple[Rows, list[str]]:
    """Write the manifest and the hidden copy.

    `replaced`: the folders whose files another submission replaced. Return the manifest's rows, and
    the edits that no longer apply because their submissions were replaced.
    """
    before = collected_before(home)
    edited = manifest.read(home / manifest.NAME)
    edited = dict(before if edited is None else edited)
    ended = []
    for folder in sorted({*replaced} & before.keys() & edited.keys()):
        old, mine = asdict(before[folder]), asdict(edited[folder])
        about = {name: old[name] for name in ABOUT_SUBMISSION if old[name] != mine[name]}
        edited[folder] = replace(edited[folder], **about)
        ended += [f"{folder} ({name} {mine[name] or 'empty'})" for name in about]
    rows = merged(before, edited, collected)
    write_if_new(home / manifest.NAME, manifest.written(rows.values()))
    columns = (*manifest.COLUMNS, *ATTEMPT)
    write_if_new(home / COPY, manifest.written(collected.values(), columns))
    return rows, ended


def merged(before: Rows, edited: Rows, collected: Rows) -> Rows:
    rows = dict(edited)
    for folder, new in collected.items():
        old = before.get(folder, Row(folder))  # empty if the instructor wrote the row by hand
        rows[folder] = with_edits(old, edited[folder], new) if folder in edited else new
    return rows


def with_edits(old: Row, mine: Row, new: Row) -> Row:
    edited = {
        name: cell
        for name, cell in asdict(mine).items()
        if cell != getattr(old, name) and name not in ATTEMPT  # which the manifest does not have
    }
    if "doubts" in edited:  # settled doubts stay settled, and new ones are added
        settled = {*doubts_in(old)} - {*doubts_in(mine)}
        added = [one for one in doubts_in(mine) if one not in doubts_in(old)]
        left = [one for one in doubts_in(new) if one not in settled]
        edited["doubts"] = doubts.written([*left, *added])
    return replace(new, **edited)
