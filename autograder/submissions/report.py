"""Read report.md, a student's report: its parts, which begin with `##` headings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.doubts import note_of
from autograder.submissions.regular_files import open_regular, unreadable, why

MAX_BYTES = 1_000_000
HEADING = re.compile(r"##\s+(.{1,80}?)\s*#*\s*\Z")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(slots=True)
class Report:
    """The text below each `##` heading, in lower case, with the heading's place."""

    name: str
    parts: dict[str, tuple[str, Where]] = field(default_factory=dict)


def report_of(files: Mapping[Path, str]) -> tuple[Report | None, list[Note]]:
    """Return a lesson's report.

    If there are several files, use the one nearest to the lesson's folder.
    """
    if not files:
        return None, []
    path, name = min(files.items(), key=lambda one: (one[1].count("/"), one[1]))
    found = f"{len(files)}; {shortened(name, 80)} counts"
    several = note_of(FindingCode.SEVERAL_REPORTS, "", found, [Where(name, 0)])
    findings = [several] if len(files) > 1 else []
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES)
    except OSError as error:
        return None, [*findings, unreadable(name, why(error))]
    return parse_report(data.decode("utf-8-sig", "replace"), name), findings


def parse_report(text: str, name: str) -> Report:
    report, part = Report(name), ""
    text = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.strip()
        if heading := HEADING.match(line):
            part = heading[1].casefold()
            report.parts.setdefault(part, ("", Where(name, number)))
        elif part and line and not line.startswith("#"):
            before, where = report.parts[part]
            report.parts[part] = (f"{before}\n{line}".strip(), where)
    return report
