"""Show the grades on the terminal as a table, or as plain text with the same columns elsewhere."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.classroom.rows import Row
from autograder.codes import EvidenceLevel, GradeStatus
from autograder.report.signs import SIGNS, check_line, notice, points
from autograder.safe_text import printable
from autograder.verdict import PASSED

COLUMNS = ("student", "lesson", "points", "state", "evidence", "what to look at")
MOST_SHOWN = 100  # rows on a terminal; if there are more, only those that a person should look at
WIDEST = 32  # characters of a name in plain text, so that one long name does not move all columns

Titles = Mapping[str, Mapping[str, str]]  # lesson -> check -> title


def cells(row: Row) -> tuple[str, ...]:
    score = f"{points(row.score)}/{points(row.max_score)}"
    return (row.student, row.lesson, score, row.status, row.tier or "-", notice(row))


def counts(rows: Sequence[Row]) -> str:
    """Return how many lessons are graded, and how many are in any other state."""
    states = Counter(row.status for row in rows)
    others = [
        f"{count} {state}" for state, count in sorted(states.items()) if state != GradeStatus.GRADED
    ]
    return ", ".join([f"{states['graded']} graded", *others])


def size_notice(rows: Sequence[Row], profile: str) -> str:
    """Return a message that suggests the other profile if most runs are too small for this one.

    If only one run is too small, that run gets a finding instead of this message.
    """
    runs, small = sum(row.runs for row in rows), sum(row.small_runs for row in rows)
    if profile != "full" or not small or 2 * small < runs:
        return ""
    counted = f"{small} of {runs} run{'' if runs == 1 else 's'}"
    verb = "is" if small == 1 else "are"
    return f"{counted} {verb} smaller than profile full requires: did you mean --profile smoke?"


def show(
    rows: Sequence[Row], out: Path | None, titles: Titles, profile: str, said: Sequence[str] = ()
) -> None:
    """Print one line per grade; for a single student, also each check.

    The rows are followed by the count, messages about files that were filled in, and the path of
    the page.
    """
    looks = [row for row in rows if row.look]
    visible = _show_rows(rows, looks)
    if len({row.student for row in rows}) == 1:
        _show_checks(rows, titles)
    if len(visible) < len(rows):
        print(f"Shown: {len(visible)} of {len(rows)}. The others are in the reports.")
    print(f"{counts(rows)}, {len(looks)} for a person to look at.", file=sys.stderr)
    if text := size_notice(rows, profile):
        print(text, file=sys.stderr)
    for sentence in said:
        print(sentence, file=sys.stderr)
    if out is not None:
        print(f"Reports: {out / 'index.html'}", file=sys.stderr)
        if len({row.student for row in rows}) == 1 and rows[0].page:
            print(f"         {out / 'students' / rows[0].page}", file=sys.stderr)


def show_shard(rows: Sequence[Row], name: str, students: int, everybody: int, path: Path) -> None:
    """Print the rows of one shard, and the command to use once all shards have been graded."""
    looks = [row for row in rows if row.look]
    _show_rows(rows, looks)
    text = f"{counts(rows)}, {len(looks)} for a person to look at."
    print(f"Shard {name}, {students} of {everybody} students: {text}", file=sys.stderr)
    print(f"Written: {path}. When all shards are there: autograder merge", file=sys.stderr)


def _show_rows(rows: Sequence[Row], looks: Sequence[Row]) -> Sequence[Row]:
    """Print the rows and return them.

    If there are many rows, a terminal shows only those that need a look.
    """
    terminal = sys.stdout.isatty()
    visible = looks[:MOST_SHOWN] if terminal and len(rows) > MOST_SHOWN else rows
    if visible and terminal:
        _show_table(visible)
    elif visible:
        _show_plain(visible)
    return visible


def _show_plain(rows: Sequence[Row]) -> None:
    """Print columns at least two spaces apart, so that scripts can split them."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [
        min(WIDEST, max(len(line[column]) for line in lines)) for column in range(len(COLUMNS))
    ]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


def _show_checks(rows: Sequence[Row], titles: Titles) -> None:
    for row in rows:
        if not row.checks:
            continue
        named = {**titles.get(row.lesson, {}), **dict(row.told)}
        print(f"\n{row.lesson} {row.title}")
        for name, score, most, status in row.checks:
            state = "" if status == PASSED else f" ({status})"
            title = printable(named.get(name, name)) + state
            print(check_line(SIGNS.get(status, "!"), score, most, title))
    print()


def _show_table(rows: Sequence[Row]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for title in COLUMNS:
        table.add_column(title, no_wrap=title not in ("student", COLUMNS[-1]))
    for row in rows:
        student, lesson, score, *others = cells(row)
        worth = Text(score, style=_colour(row))
        table.add_row(Text(student), Text(lesson), worth, *map(Text, others))
    Console().print(table)


def _colour(row: Row) -> str:
    if row.tier == EvidenceLevel.CONTRADICTED:
        return "red"
    if row.look:
        return "yellow"
    return "green" if row.score is not None and row.score >= row.max_score else ""
