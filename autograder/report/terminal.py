"""Show the grades on the terminal: columns, which scripts can split at two spaces."""

import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from autograder.codes import EvidenceLevel, GradeStatus
from autograder.report.rendering import PAGES, SIGNS, Titles, check_line, notice, points
from autograder.safe_text import printable
from autograder.verdict import PASSED, Grade
from autograder.wording import counted

COLUMNS = ("student", "lesson", "points", "state", "evidence", "what to look at")
MOST_SHOWN = 40  # rows on a terminal; if there are more, only the FIRST that need a person
FIRST = 10
WIDEST = 32  # characters of a name, so that one long name does not move all columns


def summary(rows: Sequence[Grade]) -> str:
    """Return how many lessons are in each state, such as graded, and how many need a look."""
    states = Counter(row.status for row in rows)
    graded = states.pop(GradeStatus.GRADED, 0)
    counts = [f"{graded} graded", *(f"{count} {state}" for state, count in sorted(states.items()))]
    return f"{', '.join(counts)}, {sum(bool(row.look) for row in rows)} for a person to look at."


def reasons(rows: Sequence[Grade]) -> str:
    """Count the rows by their first reason to look, and list the most harmful reasons first."""
    first = Counter(row.look[0].code for row in rows if row.look)
    order = sorted(first.items(), key=lambda item: (item[0].rank, -item[1]))
    return "To look at: " + ", ".join(f"{count} × {code}" for code, count in order)


def size_notice(rows: Sequence[Grade], profile: str) -> str:
    """Return a message that suggests the other profile if most runs are too small for this one."""
    runs = sum(run.counted for row in rows for run in row.runs)
    small = sum(row.small_runs for row in rows)
    if profile != "full" or not small or 2 * small < runs:
        return ""
    are_smaller = f"{small} of {counted(runs, 'run')} {'is' if small == 1 else 'are'} smaller"
    return f"{are_smaller} than profile full requires: did you mean --profile smoke?"


def show(
    rows: Sequence[Grade], out: Path | None, titles: Titles, profile: str, said: Sequence[str] = ()
) -> None:
    """Print one line per grade; for a single student, also each check. Then print messages.

    If there are many rows, a terminal shows only those that need a person first, and how many have
    each reason.
    """
    terminal, visible = sys.stdout.isatty(), rows
    if terminal and len(rows) > MOST_SHOWN:
        looks = sorted((r for r in rows if r.look), key=lambda r: (r.look[0].code.rank, r.key))
        visible = looks[:FIRST]
    if visible:
        show_rows(visible, shutil.get_terminal_size().columns if terminal else sys.maxsize)
    is_one_student = len({row.student for row in rows}) == 1
    if is_one_student:
        show_checks(rows, titles)
    if len(visible) < len(rows):
        print(f"Shown: {len(visible)} of {len(rows)}. {reasons(rows)}")
    lines = [summary(rows), size_notice(rows, profile), *said]
    if out is not None:
        lines.append(f"Reports: {out / 'index.html'}")
    if out is not None and is_one_student:
        lines.append(f"         {out / PAGES / rows[0].page}")
    print("\n".join(filter(None, lines)), file=sys.stderr)


def show_rows(rows: Sequence[Grade], width: int) -> None:
    """Print columns at least two spaces apart; the last one is wrapped."""
    lines = [COLUMNS]
    for row in rows:
        score = f"{points(row.score)}/{points(row.max_score)}"
        notes = notice(row)
        lines.append((row.student, row.lesson, score, row.status, row.level or "-", notes))
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*lines, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    for line, colour in zip(lines, [None, *map(colour_of, rows)], strict=True):
        padded = "  ".join(cell.ljust(most) for cell, most in zip(line, widths, strict=False))
        last = textwrap.wrap(line[-1], max(width - indent, 20)) or [""]
        text = f"{padded}  " + ("\n" + " " * indent).join(last)
        click.secho(text.rstrip(), fg=colour)


def show_checks(rows: Sequence[Grade], titles: Titles) -> None:
    for row in rows:
        if row.checks:
            print(f"\n{row.lesson} {row.title}")
        named = titles.get(row.lesson, {})
        for check in row.checks:
            state = "" if check.status == PASSED else f" ({check.status})"
            title = printable(check.told or named.get(check.id, check.id)) + state
            print(check_line(SIGNS.get(check.status, "!"), check.score, check.points, title))
    print()


def colour_of(row: Grade) -> str | None:
    return "red" if row.level == EvidenceLevel.CONTRADICTED else "yellow" if row.look else None
