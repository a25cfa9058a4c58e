"""Read submitted texts: lines of outputs to quote, programs, and reports.

Nothing is ever run or parsed as code.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.doubts import note_of
from autograder.submissions.walk import open_regular, why
from autograder.text_hash import text_hash
from autograder.verdict import QuotedLine

AROUND = 1  # lines before and after
MOST_PLACES = 16  # per grade
LAST = 20_000  # a line behind it is not quoted, because everything before it would be read again
LONGEST, LONGEST_AROUND = 640, 100  # characters of a line


def quoted_lines(outputs: Mapping[Path, str], places: Iterable[Where]) -> tuple[QuotedLine, ...]:
    """Return the lines at these places, in order. `outputs` maps the outputs' paths to names."""
    wanted = defaultdict[str, set[int]](set)
    near = dict.fromkeys(place for place in places if 0 < place.line <= LAST)
    for place in islice(near, MOST_PLACES):
        wanted[place.file].add(place.line)
    return tuple(
        line
        for path, name in outputs.items()
        if name in wanted
        for line in lines_of(path, name, wanted[name])
    )


def lines_of(path: Path, name: str, numbers: Collection[int]) -> list[QuotedLine]:
    around = {number + step for number in numbers for step in range(-AROUND, AROUND + 1)}
    quoted = []
    with open_regular(path) as file:
        parts = islice(iter(partial(file.readline, 1 << 20), b""), max(around))
        for number, data in enumerate(parts, 1):
            if number in around:
                most = LONGEST if number in numbers else LONGEST_AROUND
                text = data.rstrip(b"\r\n").rpartition(b"\r")[2]  # the last state of a bar
                line = text[: 4 * most].decode("utf-8", "replace")
                line = line if len(line) <= most else f"{line[: most - 2]} …"
                quoted.append(QuotedLine(name, number, line))
    return quoted


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
