"""Read report.md, a student's report on a study: parts under headings, and tables.

## Table
### strong
| ranks | rounds | seconds |
|---|---|---|
| 1 | 8 | 0.455 |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.doubts import Doubt, finding_of
from autograder.submissions.regular_files import open_regular, unreadable, why
from autograder.verdict import Finding

MAX_BYTES = 1_000_000
HEADING = re.compile(r"(#{2,3})\s+(.{1,80}?)\s*#*\s*\Z")
RULE = re.compile(r"\|[\s:|-]+\|?\Z")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(slots=True)
class Table:
    where: Where
    head: tuple[str, ...] = ()
    rows: list[tuple[tuple[str, ...], Where]] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """The text by `##` heading and the tables by `###` heading, as the student wrote them."""

    name: str
    parts: dict[str, tuple[str, Where]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)


def report_of(files: Mapping[Path, str]) -> tuple[Report | None, list[Finding]]:
    """Return a lesson's report.

    If there are several files, use the one nearest to the lesson's folder.
    """
    if not files:
        return None, []
    path, name = min(files.items(), key=lambda one: (one[1].count("/"), one[1]))
    findings = []
    if len(files) > 1:
        found = f"{len(files)}; {shortened(name, 80)} counts"
        findings = [finding_of(Doubt(FindingCode.SEVERAL_REPORTS, "", found), [Where(name, 0)])]
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES)
    except OSError as error:
        return None, [*findings, unreadable(name, why(error))]
    return parse_report(data.decode("utf-8-sig", "replace"), name), findings


def parse_report(text: str, name: str) -> Report:
    report = Report(name)
    part, table = "", ""
    text = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line, where = raw.strip(), Where(name, number)
        if heading := HEADING.match(line):
            title = heading[2].casefold()
            part, table = (title, "") if heading[1] == "##" else (part, title)
            if not table:
                report.parts.setdefault(part, ("", where))
            continue
        if line.startswith("|") and table:
            add_row(report.tables.setdefault(table, Table(where)), line, where)
        elif part:
            said, first = report.parts[part]
            report.parts[part] = (f"{said}\n{line}".strip(), first)
    return report


def add_row(table: Table, line: str, where: Where) -> None:
    if RULE.match(line):
        return
    cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
    if not table.head:
        table.head = cells
    elif len(table.rows) < 1000:
        table.rows.append((cells, where))
