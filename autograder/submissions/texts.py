"""Read submitted texts: programs, and reports.

Nothing is ever run or parsed as code.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.doubts import note_of
from autograder.submissions.walk import open_regular, why
from autograder.text_hash import text_hash

# --- programs ----------------------------------------------------------------------------------

MOST_FILES = 100
MOST_BYTES = 256_000  # per program


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submitted program. If `hash` and `lines` are empty, the file was unreadable or too long."""

    name: str
    hash: str | None
    lines: tuple[str, ...] = ()

    def is_called(self, name: str) -> bool:
        """Return whether the program has this name, ignoring the folder it was packed in."""
        return f"/{self.name}".endswith(f"/{name}")


def read_programs(files: Mapping[Path, str]) -> list[HandedIn]:
    programs: dict[tuple[str, tuple[str, ...]], HandedIn] = {}
    in_order = sorted(files.items(), key=lambda item: (item[1].count("/"), item[1]))
    for path, name in in_order[:MOST_FILES]:
        try:
            with open_regular(path) as file:
                data = file.read(MOST_BYTES + 1)
        except OSError:
            data = b""
        program = HandedIn(name, *read_text(data))
        programs.setdefault((name.rpartition("/")[2], program.lines), program)  # a copy counts once
    return list(programs.values())


@lru_cache(500)  # a class has many programs that are unchanged from the release
def read_text(data: bytes) -> tuple[str | None, tuple[str, ...]]:
    if not data or len(data) > MOST_BYTES:
        return None, ()
    return text_hash(data), tuple(data.decode("utf-8-sig", "replace").splitlines())


# --- reports -----------------------------------------------------------------------------------

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
    path, name = min(files.items(), key=lambda item: (item[1].count("/"), item[1]))
    detail = f"{len(files)}; {shortened(name, 80)} counts"
    several = note_of(FindingCode.SEVERAL_REPORTS, "", detail, [Where(name, 0)])
    findings = [several] if len(files) > 1 else []
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES)
    except OSError as error:
        return None, [*findings, note_of(FindingCode.FILE_UNREADABLE, name, why(error))]
    return parse_report(data.decode("utf-8-sig", "replace"), name), findings


def parse_report(text: str, name: str) -> Report:
    report, part = Report(name), ""
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.strip()
        if heading := HEADING.match(line):
            part = heading[1].casefold()
            report.parts.setdefault(part, ("", Where(name, number)))
        elif part and line and not line.startswith("#"):
            before, where = report.parts[part]
            report.parts[part] = (f"{before}\n{line}".strip(), where)
    return report
