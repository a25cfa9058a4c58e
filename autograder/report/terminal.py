"""The grade table on the terminal; plain lines where the output is no terminal."""

import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED, Grade

SIGNS = {PASSED: "✓", BORDERLINE: "≈", PARTIAL: "◐", FAILED: "✗", NOT_MEASURED: "?"}
LEGEND = "✓ passed  ≈ borderline, full credit  ◐ part of the points  ✗ missed  ? not measured"


def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def marks(grade: Grade) -> str:
    return " ".join(SIGNS.get(check.status, "!") for check in grade.checks if check.points)


def notice(grade: Grade) -> str:
    if grade.look:
        return grade.look[0] + (f" (+{len(grade.look) - 1})" if len(grade.look) > 1 else "")
    missed = [c.id for c in grade.checks if c.points and c.score < c.points]
    return ("lost points: " + ", ".join(missed)) if missed else ""


def show(grades: Sequence[Grade], out: Path | None) -> None:
    """One line a grade, worst news in the last column."""
    looks = sum(bool(g.look) for g in grades)
    if sys.stdout.isatty():
        _show_table(grades)
    else:
        for g in grades:
            score = f"{points(g.score)}/{points(g.max_score)}"
            print(f"{g.student}\t{g.lesson}\t{score}\t{g.status}\t{g.tier}\t{notice(g)}")
    print(f"{len(grades)} graded, {looks} for a person to look at.", file=sys.stderr)
    if out is not None:
        print(f"Reports: {out / 'index.html'}", file=sys.stderr)


def _show_table(grades: Sequence[Grade]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(caption=LEGEND, caption_justify="left", header_style="bold", row_styles=("", ""))
    for title in ("student", "lesson", "points", "checks", "evidence", "notice"):
        table.add_column(title, justify="right" if title == "points" else "left")
    for g in grades:
        full = g.score is not None and g.score >= g.max_score
        colour = "yellow" if g.look else "green" if full else ""
        score = Text(f"{points(g.score)} / {points(g.max_score)}", style=colour)
        cells = (g.student, g.lesson, score, marks(g), g.tier, Text(notice(g), style="dim"))
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    console.print(table)
