"""What the tables' jobs printed: the kept text while its key fits, else that of a real run."""

import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.lessons.planted.key import key_of
from tests.lessons.planted.lessons import LESSONS
from tests.lessons.planted.start import run_jobs
from tests.lessons.planted.table import ROOT, Lesson

KEPT = Path(__file__).parent / "outputs"

Output = dict[str, str]  # "out" -> what the job printed; "err" too of one that may not end well


def output(lesson: Lesson, job: str) -> Output:
    if is_fresh(lesson, job):
        files = {stream: file_of(lesson, job, stream) for stream in ("out", "err")}
        return {stream: after_head(file) for stream, file in files.items() if file.is_file()}
    found = run_stale(lesson.number)[job]
    if isinstance(found, Exception):
        raise found
    return found


def stale(lesson: Lesson) -> list[str]:
    """Jobs whose kept output is missing, or is that of another program or change."""
    return [job for job in lesson.jobs if not is_fresh(lesson, job)]


def told() -> str:
    """One sentence on what has to be made anew; empty if nothing."""
    counted = {number: len(stale(lesson)) for number, lesson in LESSONS.items()}
    some = ", ".join(f"{number} ({count})" for number, count in sorted(counted.items()) if count)
    return some and (
        f"Kept outputs of planted mistakes that no longer fit their program: {some}. Those mistakes"
        " are run for real among the slow tests; `make planted` keeps new outputs."
    )


def file_of(lesson: Lesson, job: str, stream: str = "out") -> Path:
    """Not *.out, which git ignores: what a run leaves behind is named so."""
    name = re.sub("[^a-z0-9]+", "-", job.lower()).strip("-")
    return KEPT / lesson.number / f"{name}.{stream}.txt"


def head(lesson: Lesson, job: str) -> str:
    return f"# What a real run printed; made by `make planted`. Key: {key_of(lesson, job)}\n"


def is_fresh(lesson: Lesson, job: str) -> bool:
    file = file_of(lesson, job)
    return file.is_file() and file.read_text("utf-8").startswith(head(lesson, job))


def after_head(file: Path) -> str:
    return file.read_text("utf-8").partition("\n")[2]


@cache
def run_stale(number: str) -> dict[str, Output | Exception]:
    """Once a session: all stale jobs of a lesson, for frameworks are loaded once for many."""
    lesson = LESSONS[number]
    jobs = stale(lesson)
    warnings.warn(f"{number}: {', '.join(jobs)} run for real. {told()}", stacklevel=2)
    found: dict[str, Output | Exception] = {}
    for batch in run(lesson, jobs):
        found |= batch
    return found


def run(lesson: Lesson, jobs: Iterable[str]) -> Iterator[dict[str, Output | Exception]]:
    """Run for real, batch by batch: what each job printed, or why it could not be run."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        for names, failure in run_jobs(lesson, jobs, Path(folder)):
            yield {name: failure or read(Path(folder, name)) for name in names}


def read(folder: Path) -> Output:
    streams = {stream: folder / f"job.{stream}" for stream in ("out", "err")}
    return {
        stream: without_places(file.read_text("utf-8"), folder)
        for stream, file in streams.items()
        if file.is_file()
    }


def without_places(text: str, folder: Path) -> str:
    """Folders of this machine are left out; the run record names none, and stays as it is."""
    lines = []
    for line in text.splitlines(keepends=True):
        for place in (folder, sys.prefix, sys.base_prefix, ROOT, Path.home()):
            assert f"{place}/" not in line or ":::MLLOG" not in line, line
            line = line.replace(f"{place}/", "…/")
        lines.append(line)
    return "".join(lines)


def keep(lesson: Lesson, job: str, printed: Output) -> int:
    """Writes the kept files; how many bytes they are."""
    assert '"synthetic":true' not in printed["out"], "the real data sets are not here (COURSE_DATA)"
    size = 0
    for stream, text in printed.items():
        file = file_of(lesson, job, stream)
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_text(head(lesson, job) + text, "utf-8")
    return size
