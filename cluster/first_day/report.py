"""Write the report of a first day: what passed, what is wrong, and a line for the site file."""

import platform
from datetime import date
from pathlib import Path

from cluster.first_day.day import Day, Step, WrongError

SAID = {"rank": "1 rank", "ranks": "2 ranks", "nodes": "2 nodes", "02": "02", "07": "07"}


def write(day: Day, wrong: tuple[Step, WrongError] | None) -> Path:
    """Write the report as publishable Markdown, without home folders and account names."""
    lines = [
        f"# First day at {day.site.name}, {date.today().isoformat()}",
        "",
        f"Python {platform.python_version()}, {day.site.scheduler}, started on {platform.node()}.",
        "",
        "| step | | seconds |",
        "|---|---|---|",
    ]
    for step, passed, seconds in day.passed:
        cell = "<br>".join([passed.found, *(f"look: {remark}" for remark in passed.remarks)])
        lines.append(f"| {step.title} | {in_cell(cell)} | {seconds:.0f} |")
    if wrong:
        step, error = wrong
        lines.append(f"| {step.title} | **wrong**: {in_cell(error.found)}<br>→ {error.advice} | |")
    else:
        lines += ["", f"For `{day.site.name}.sh`:", "", f"    {tested_line(day)}"]
    file = day.folder / "report.md"
    text = "\n".join(lines).replace(str(Path.home()), "~").replace(str(day.folder), "first-day")
    file.write_text(text + "\n")
    return file


def in_cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def tested_line(day: Day) -> str:
    """Return the SITE_TESTED line with today's date."""
    passed = [SAID[step.name] for step, it, _ in day.passed if it.tried and step.name in SAID]
    lessons = " and ".join(name for name in passed if name.isdigit())
    rest = ", ".join(name for name in passed if not name.isdigit())
    return f'SITE_TESTED="{date.today().isoformat()}: {rest}, lessons {lessons}"'
