"""Play through a term as an instructor and ten students would.

Lessons are released, submitted on four platforms with honest mistakes, graded every week, returned,
asked about and exported.

    python -m tests.autograder.term.play FOLDER      # keeps everything there for inspection

Only the clicks are simulated. The commands are those of the documentation, and the outputs are
saved outputs of real runs, changed so that each is its student's own run.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from autograder.cli import main as autograder
from lessons.cli import main as lessons
from tests.autograder.class_yaml import setting
from tests.autograder.submissions.downloads import packed
from tests.autograder.term import platforms
from tests.autograder.term.hand_ins import Files, answers, as_text, outputs

COURSE = Path(__file__).parents[3]
Row = dict[str, Any]
OVERRIDES = (
    "student,lesson,check,points,reason\n"
    "kim,01,accuracy,3,seen in `sacct -X --jobs=10802`\n"
    "hana,02,own-numbers,1.5,an epoch's images are those that it learns from\n"
)
FILES = {
    "roster.csv": platforms.ROSTER,
    "class.yaml": platforms.CLASS,
    "times.csv": platforms.TIMES,
    "extensions.csv": platforms.EXTENSIONS,
    "groups.csv": platforms.GROUPS,
    "overrides.csv": OVERRIDES,
    "01-worksheet.csv": platforms.worksheet(),
    "gradebook.csv": platforms.gradebook(),
}


@dataclass
class Stage:
    """The result of a command for an instructor: its output, and copies of the files it wrote."""

    code: int
    said: str
    folder: Path
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)  # of grades.json

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def page(self, student: str) -> str:
        return self.text(f"students/{student}.html")

    def record(self, student: str, lesson: str) -> Row:
        """Return everything recorded about one grade."""
        grades = json.loads(self.text(f"records/{student}.json"))["grades"]
        return next(one for one in grades if one["lesson"] == lesson)


def typed(command: Any, *words: object) -> tuple[int, str]:
    result = CliRunner().invoke(command, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


class Term:
    """The folder of a term; each method does one thing in it."""

    def __init__(self, home: Path) -> None:
        self.home, self.stages = home, dict[str, Stage]()
        home.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (home / name).write_bytes(text.encode())

    def option(self, name: str, file: str) -> list[object]:
        return [f"--{name}", self.home / file]

    def release(self, upto: str) -> Stage:
        out = self.home / f"released-{upto}"
        code, said = typed(lessons, "release", "--upto", upto, "--out", out)
        return Stage(code, said, out)

    def check_yourself(self, lesson: str, files: Files) -> Stage:
        """Run `check-mine` in the student's own folder, before submitting."""
        place = self.home / "at-home" / f"{lesson}_lesson"
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        code, said = typed(autograder, "check-mine", place)
        return Stage(code, said, place)

    def collect(self, *downloads: str) -> None:
        """Collect downloads into the same class each time; what was collected before stays."""
        options = [*self.option("class", "class.yaml"), *self.option("times", "times.csv")]
        for one in downloads:
            place = platforms.download(self.home, one)
            words = ["--from", platforms.DOWNLOADS[one][0], "--into", self.home / "class"]
            code, said = typed(autograder, "collect", place, *words, *options, "--lesson", one[:2])
            assert code in (0, 1), said

    def grade(self, called: str, *more: object) -> Stage:
        """Grade into the same folder each time, as instructors do. Keep a copy for each stage."""
        out = self.home / "grades"
        options = [*self.option("class", "class.yaml"), *more]
        code, said = typed(autograder, "grade", self.home / "class", "--out", out, *options)
        copy = self.home / "after" / called
        shutil.copytree(out, copy)
        rows = json.loads((copy / "grades.json").read_text())["grades"]
        made = Stage(code, said, copy, {(row["student"], row["lesson"]): row for row in rows})
        assert len(made.rows) == len(rows), "a lesson of a student stands there twice"
        self.stages[called] = made
        return made

    def feedback(self, *words: object) -> Stage:
        out = self.home / "feedback"
        roster = self.option("roster", "roster.csv")
        code, said = typed(
            autograder, "feedback", self.home / "grades", *roster, *words, "--out", out
        )
        return Stage(code, said, out)

    def canvas_download(self) -> Path:
        """Write Canvas's own zip of lesson 02, with the name that `feedback` expects."""
        path = self.home / "02-submissions.zip"
        path.write_bytes(packed(platforms.canvas_of_02()))
        return path


def play(home: Path) -> Iterator[tuple[str, Stage]]:
    """Yield the stages in order."""
    term = Term(home)
    yield "release", term.release("02")

    files = outputs("02", "hana")
    own = answers("02", files)
    wrong = {"keras_throughput": "99999", "cpu_gpu_is_speedup": "yes", "s4_epoch_s": ""}
    files["answers.txt"] = as_text(own | wrong)
    yield "self", term.check_yourself("02", files)

    term.collect("01")
    yield "week 1", term.grade("week 1")
    term.collect("02")
    yield "week 2", term.grade("week 2")
    term.collect("07", "07 on Gradescope")
    yield "week 3", term.grade("week 3")

    yield (
        "feedback",
        term.feedback(
            *term.option("moodle", "01-worksheet.csv"),
            *("--canvas", term.canvas_download()),
        ),
    )
    asked = setting("overrides", home / "overrides.csv")
    yield "answered", term.grade("answered", *asked)

    term.collect("01 again")
    yield "again", term.grade("again", *asked)
    exports = [
        *term.option("canvas", "gradebook.csv"),
        *term.option("moodle", "01-worksheet.csv"),
    ]
    yield "end", term.grade("end", *asked, *exports)
    yield "once more", term.grade("once more", *asked, *exports)

    results = home / "results.json"
    shutil.copytree(home / "class" / "hana" / "07", home / "one" / "hana" / "07")
    code, said = typed(autograder, "grade", home / "one", "--profile", "smoke",
                       "--gradescope", results)  # fmt: skip
    yield "gradescope", Stage(code, said, home)


if __name__ == "__main__":
    for called, stage in play(Path(sys.argv[1])):
        print(f"== {called}: exit code {stage.code}, {stage.folder}\n{stage.said}")
