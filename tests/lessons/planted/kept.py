"""Outputs of the planted mistakes' jobs, kept by `make planted` and read by the tests."""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.lessons.planted.key import key_of
from tests.lessons.planted.plants import ROOT, Lesson
from tests.lessons.planted.start import run_jobs

KEPT = Path(__file__).parent / "outputs"

Output = dict[str, str]  # "out" -> what the job printed; "err" too of one that may fail


def output(lesson: Lesson, job: str) -> Output:
    """Return the kept output of a job."""
    files = {stream: file_of(lesson, job, stream) for stream in ("out", "err")}
    found = {
        stream: file.read_text("utf-8").partition("\n")[2]
        for stream, file in files.items()
        if file.is_file()
    }
    assert "out" in found, f"no kept output of {job!r}: .venv/bin/python -m tests.lessons.planted"
    return found


def stale(lesson: Lesson) -> list[str]:
    """Return the jobs whose kept output is missing or comes from another program or change."""
    return [job for job in lesson.jobs if not is_fresh(lesson, job)]


def is_fresh(lesson: Lesson, job: str) -> bool:
    file = file_of(lesson, job)
    return file.is_file() and file.read_text("utf-8").startswith(head(lesson, job))


def file_of(lesson: Lesson, job: str, stream: str = "out") -> Path:
    """Return the file of a kept output; its name does not end in .out, which git ignores."""
    name = re.sub("[^a-z0-9]+", "-", job.lower()).strip("-")
    return KEPT / lesson.number / f"{name}.{stream}.txt"


def head(lesson: Lesson, job: str) -> str:
    return f"# Output of a real run, made by `make planted`. Key: {key_of(lesson, job)}\n"


def run(lesson: Lesson, jobs: Iterable[str]) -> Iterator[dict[str, Output | Exception]]:
    """Run jobs, batch by batch; yield what each printed, or why it could not be run."""
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
    """Remove this machine's folders. The run record contains none and does not change."""
    places = [Path(place) for place in (folder, sys.prefix, sys.base_prefix, ROOT, Path.home())]
    places += [place.resolve() for place in places]  # the environment may be a link
    lines = []
    for line in text.splitlines(keepends=True):
        for place in places:
            assert f"{place}/" not in line or ":::MLLOG" not in line, line
            line = line.replace(f"{place}/", "…/")
        lines.append(line)
    return "".join(lines)


def keep(lesson: Lesson, job: str, printed: Output) -> int:
    """Write the output of a job; return its size in bytes."""
    assert '"synthetic":true' not in printed["out"], "the real data sets are missing (COURSE_DATA)"
    size = 0
    for stream, text in printed.items():
        file = file_of(lesson, job, stream)
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_text(head(lesson, job) + text, "utf-8")
    return size
