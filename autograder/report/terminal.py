"""The grade table on the terminal; plain lines where the output is no terminal."""

import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.rows import Row
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED

SIGNS = {PASSED: "✓", BORDERLINE: "≈", PARTIAL: "◐", FAILED: "✗", NOT_MEASURED: "?"}
LEGEND = "✓ passed  ≈ borderline, full credit  ◐ part of the points  ✗ missed  ? not measured"


def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def marks(row: Row) -> str:
    return " ".join(SIGNS.get(status, "!") for _, _, most, status in row.checks if most)


def notice(row: Row) -> str:
    if row.look:
        return row.look[0] + (f" (+{len(row.look) - 1})" if len(row.look) > 1 else "")
    if row.adjustments:
        return row.adjustments[-1]
    missed = [name for name, score, most, _ in row.checks if most and score < most]
    return ("lost points: " + ", ".join(missed)) if missed else ""


def show(rows: Sequence[Row], out: Path | None) -> None:
    """One line a grade, worst news in the last column."""
    looks = sum(bool(g.look) for g in rows)
    if sys.stdout.isatty():
        _show_table(rows)
    else:
        for g in rows:
            score = f"{points(g.score)}/{points(g.max_score)}"
            print(f"{g.student}\t{g.lesson}\t{score}\t{g.status}\t{g.tier or '-'}\t{notice(g)}")
    print(f"{len(rows)} graded, {looks} for a person to look at.", file=sys.stderr)
    if out is not None:
        print(f"Reports: {out / 'index.html'}", file=sys.stderr)


def _show_table(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(caption=LEGEND, caption_justify="left", header_style="bold", row_styles=("", ""))
    for title in ("student", "lesson", "points", "checks", "evidence", "notice"):
        table.add_column(title, justify="right" if title == "points" else "left")
    for g in rows:
        full = g.score is not None and g.score >= g.max_score
        colour = (
            "red" if g.tier == "contradicted" else "yellow" if g.look else "green" if full else ""
        )
        score = Text(f"{points(g.score)} / {points(g.max_score)}", style=colour)
        cells = (
            g.student,
            g.lesson,
            score,
            marks(g),
            g.tier or g.status,
            Text(notice(g), style="dim"),
        )
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    console.print(table)
