"""Play through a term as an instructor and ten students would.

Lessons are submitted on three platforms with honest mistakes, graded every week and asked about.

    python -m tests.autograder.term.play FOLDER      # keeps everything there for inspection

Only the clicks are simulated. The commands are those of the documentation, and the outputs are
saved outputs of real runs, changed so that each is its student's own run.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from autograder.cli import main
from autograder.submissions import manifest
from tests.autograder.class_yaml import setting
from tests.autograder.term import platforms

Row = dict[str, Any]
OVERRIDES = (
    "student,lesson,check,points,reason\n"
    "kim,01,accuracy,3,seen in `sacct -X --jobs=10802`\n"
    "hana,02,own-numbers,1,an epoch's images are those that it learns from\n"
)
FILES = {
    "roster.csv": platforms.ROSTER,
    "class.yaml": platforms.CLASS,
    "extensions.csv": platforms.EXTENSIONS,
    "groups.csv": platforms.GROUPS,
    "overrides.csv": OVERRIDES,
}
# Stage -> the downloads collected before it, and whether overrides are given.
STAGES = {
    "week 1": (["01"], False),
    "week 2": (["02"], False),
    "week 3": (["07"], False),
    "answered": ([], True),
    "again": (["01 again"], True),
}


@dataclass
class Stage:
    """The result of grading for an instructor: its output, and copies of the files it wrote."""

    code: int
    output: str
    folder: Path
    rows: dict[tuple[str, str], Row]  # of grades.json

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def page(self, student: str) -> str:
        return self.text(f"students/{student}.html")

    def record(self, student: str, lesson: str) -> Row:
        """Return everything recorded about one grade."""
        grades = json.loads(self.text(f"records/{student}.json"))["grades"]
        return next(grade for grade in grades if grade["lesson"] == lesson)


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def collect(home: Path, download: str) -> None:
    """Collect a download into the same class each time; what was collected before stays."""
    place = platforms.download(home, download)
    words = ["--from", platforms.DOWNLOADS[download][0], "--into", home / "class"]
    words += ["--class", home / "class.yaml", "--lesson", download[:2]]
    code, output = run("collect", place, *words)
    assert code in (0, 1), output
    file = home / "class" / manifest.NAME
    rows = manifest.read(file) or {}
    times = {folder: platforms.TIMES.get(folder, row.submitted) for folder, row in rows.items()}
    timed = (replace(row, submitted=times[folder]) for folder, row in rows.items())
    file.write_text(manifest.written(timed), encoding="utf-8")


def grade(home: Path, stage: str, overridden: bool) -> Stage:
    """Grade into the same folder each time, as instructors do. Keep a copy for each stage."""
    out, copy = home / "grades", home / "after" / stage
    words = ["--out", out, "--class", home / "class.yaml"]
    words += setting("overrides", home / "overrides.csv") if overridden else ()
    code, output = run("grade", home / "class", *words)
    shutil.copytree(out, copy)
    rows = json.loads((copy / "grades.json").read_text())["grades"]
    by_key = {(row["student"], row["lesson"]): row for row in rows}
    assert len(by_key) == len(rows), "a lesson of a student appears twice"
    return Stage(code, output, copy, by_key)


def play(home: Path) -> Iterator[tuple[str, Stage]]:
    """Yield the stages in order."""
    home.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (home / name).write_bytes(text.encode())
    for stage, (downloads, overridden) in STAGES.items():
        for download in downloads:
            collect(home, download)
        yield stage, grade(home, stage, overridden)


if __name__ == "__main__":
    for name, stage in play(Path(sys.argv[1])):
        print(f"== {name}: exit code {stage.code}, {stage.folder}\n{stage.output}")
