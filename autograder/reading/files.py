"""Read the outputs of one submission and return its runs, with the place of each problem."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from autograder.codes import FindingCode, Outcome
from autograder.grouping import grouped
from autograder.notes import Note, make_note
from autograder.reading import lines, printed_lines
from autograder.reading.formats import presets, record
from autograder.reading.formats.record_values import TAG, BadLineError, decode
from autograder.reading.line_facts import Reader, make_problem
from autograder.reading.one_job import read_job
from autograder.reading.run_drafts import KEPT, MOST, ScannedFile
from autograder.records import Run, Where
from autograder.submissions import doubts, kinds
from autograder.submissions.walk import open_regular, why


def read_files(
    paths: Iterable[Path | str] | Mapping[Path, str], formats: Sequence[Reader] = ()
) -> list[Run]:
    """Return the runs in the outputs of one submission. A file's contents never cause an exception.

    If `paths` is a mapping, it gives the display name of each file.
    """
    given = paths if isinstance(paths, Mapping) else {Path(path): str(Path(path)) for path in paths}
    names = {str(path): name for path, name in given.items()}
    launches, readers = record.Launches(), (*formats, *presets.readers())
    scanned: dict[str, ScannedFile] = {}
    # A job's own output has the job's number in its name, and its error output beside it. It is
    # read before `x (1).out` and `cat *.out > all.txt`, which are then recognised as copies.
    for path in sorted(names, key=lambda path: kinds.output_name(path).job_id is None):
        name = names[path]
        try:
            with open_regular(Path(path)) as stream:
                scanned[path] = scan(name, stream, launches, readers)
        except OSError as error:
            scanned[path] = unread = ScannedFile(name)
            unread.complain(
                0, "", f"the file cannot be read: {why(error)}", FindingCode.FILE_UNREADABLE
            )
    runs = []
    jobs = grouped((kinds.output_name(path).shared, path) for path in names)
    for same in jobs.values():  # a job's output comes before its error output
        files = sorted(same, key=lambda path: kinds.output_name(path).is_error)
        runs += read_job([scanned[path] for path in files], launches, readers)
    return runs


# Printed lines are read only in this many bytes at each end of a file. A record is found anywhere.
# Only debug output makes a file this large, and it takes minutes to read.
MOST_SEARCHED = 32 << 20

# The output may be a copy from a terminal, whose lines are broken at the window's edge.
WIDTHS = range(20, 513)  # characters per line of a window
FEWEST = 2  # minimum lines; a single one may have been cut when the job was killed


def scan(
    name: str, stream: BinaryIO, launches: record.Launches, readers: Sequence[Reader] = ()
) -> ScannedFile:
    file = ScannedFile(name)
    numbers = [1]  # number of the first line of each block
    for block in lines.blocks(stream):
        numbers.append(read_records(file, block, numbers[-1], launches))
        file.size = block.start + len(block.data)
        file.blank = file.blank and block.data.isspace()
        file.lines = numbers[-1]
        file.tail = (file.tail + block.data[-KEPT:])[-KEPT:]
        # earlier states of a bar are no loss
        if block.cut and b"\r" not in block.data[: lines.LONGEST]:
            reason = f"{block.cut} bytes of a very long line were ignored"
            file.complain(numbers[-2], "", reason)
    join_broken_lines(file)
    gaps = gaps_of(file)
    if gaps:
        stream.seek(0)
        again = zip(lines.blocks(stream), numbers, strict=False)
        printed_lines.read_gaps(file, again, gaps, readers)
    return file


def read_records(
    file: ScannedFile, block: lines.Block, number: int, launches: record.Launches
) -> int:
    """Read the tagged lines of a block that begins with line `number`.

    Return the number of the next block's first line.
    """
    data, counted, end = block.data, 0, -1
    tags = [match.start() for match in re.finditer(TAG, data)]
    for tag, next_tag in pairwise([*tags, len(data)]):
        if tag > end:  # two may be on one line, from ranks that write at once
            end = data.find(b"\n", tag)
            end = len(data) if end < 0 else end
        at = min(end, next_tag)
        payload = data[tag + len(TAG) : at].strip()
        number, counted = number + data.count(b"\n", counted, tag), tag
        try:
            event = decode(payload)
        except BadLineError as error:
            if len(file.broken) < MOST and (width := width_of(data, tag, at)):
                file.broken[number] = width
            text = data[tag : tag + 120].decode("utf-8", "replace")
            file.complain(number, text, str(error), FindingCode.BAD_LINE)
            continue
        if event.get("namespace") == "course":
            run = record.take(launches, event, payload, Where(file.name, number))
            past = block.start + end + 1  # includes the newline, if there is one
            file.spans.setdefault(run, [block.start + tag, past])[1] = past
    return number + data.count(b"\n", counted)


def width_of(data: bytes, tag: int, end: int) -> int | None:
    """Return the width of a damaged record line that was cut off."""
    start = data.rfind(b"\n", 0, tag) + 1
    line = data[start:end].rstrip(b"\r")
    return None if line.endswith(b"}") else len(line.decode("utf-8", "replace"))


def join_broken_lines(file: ScannedFile) -> None:
    """Report one problem, not one for each line, if a terminal window broke the lines.

    Such output cannot be read. The student should get one message that says so, not a hundred
    about damaged lines.
    """
    widths = file.broken.values()
    if len(widths) < FEWEST or max(widths) - min(widths) > 1 or max(widths) not in WIDTHS:
        return
    file.problems = [p for p in file.problems if p.where[0].line not in file.broken]
    reason = f"copied from a terminal: its long lines were broken after {max(widths)} characters"
    where = Where(file.name, min(file.broken))
    file.problems.append(make_problem(where, "", reason, FindingCode.TERMINAL_COPY))


def gaps_of(file: ScannedFile) -> list[tuple[int, int]]:
    """Return the byte ranges that are outside records and near the file's beginning or end.

    Report anything that is left out.
    """
    gaps = between(file.spans.values(), file.size)
    middle = [MOST_SEARCHED, file.size - MOST_SEARCHED]
    if any(max(start, middle[0]) < min(stop, middle[1]) for start, stop in gaps):
        megabytes = MOST_SEARCHED >> 20
        reason = (
            f"it has {file.size / 1e9:.1f} GB; only its run record and {megabytes} MiB at its "
            "beginning and at its end were read"
        )
        file.complain(0, "", reason, FindingCode.FILE_TOO_LARGE)
        gaps = between([*file.spans.values(), middle], file.size)
    return gaps


def between(spans: Iterable[list[int]], size: int) -> list[tuple[int, int]]:
    """Return the byte ranges of a file that no span covers."""
    gaps, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            gaps.append((at, start))
        at = max(at, end)
    if size > at:
        gaps.append((at, size))
    return gaps


# --- what a submission's runs tell -------------------------------------------------------------


LESSON = re.compile(r"[\w-]{1,40}")
BADLY_SUBMITTED = (
    *(FindingCode.FILE_UNREADABLE, FindingCode.TERMINAL_COPY, FindingCode.FILE_TOO_LARGE),
)


def badly_submitted(runs: Sequence[Run]) -> list[Note]:
    """Return a finding for each output that is a terminal's copy, very large or unreadable."""
    problems = [p for code in BADLY_SUBMITTED for r in runs for p in r.problems if p.code == code]
    first = list(dict.fromkeys(problems))[: doubts.MOST]
    return [doubts.note_of(p.code, p.where[0].file, p.title, p.where) for p in first]


def cut_off(runs: Sequence[Run]) -> list[Note]:
    """Return a finding for each record that ends too early, for no other known reason.

    If a repeat of the run, or a later run of its job, has finished, the record is a finding only if
    it ends within a line.
    """
    findings = []
    completed = [r for r in runs if r.outcome == Outcome.COMPLETED]
    done = {(r.header.source, r.workers) for r in completed} | {r.files[:1] for r in completed}
    for run in runs:
        last = max((epoch.where.line for epoch in run.epochs if epoch.where), default=0)
        here = [one for one in run.problems if one.where[0].file == run.files[0]]
        final = sorted(here, key=lambda one: one.where[0].line)[-1:]
        torn = [p for p in final if p.code == FindingCode.BAD_LINE and p.where[0].line > last]
        early = run.has_header and run.outcome == Outcome.INCOMPLETE
        early = early and not {(run.header.source, run.workers), run.files[:1]} & done
        if early or (torn and run.outcome in (Outcome.INCOMPLETE, Outcome.COMPLETED)):
            where = torn[0].where if torn else [Where(run.files[0], last)]
            found = torn[0].title if torn else "the record stops before the run's end"
            found, code = f"{run.files[0]}: {found}", FindingCode.OUTPUT_CUT
            advice = "copy the file again from where the job wrote it, and submit it again"
            findings.append(make_note(code, "a record to its end", found, where, advice))
    return findings


def recorded_lesson(runs: Sequence[Run]) -> str | None:
    """Return the lesson named by a folder's outputs, if the folder itself does not name one."""
    lessons = {lesson for run in runs if LESSON.fullmatch(lesson := run.header.lesson or "")}
    return lessons.pop() if len(lessons) == 1 else None
