"""Grade the same class with two versions of the grader and compare their output byte by byte.

    python -m tests.autograder.frozen_class make FOLDER            # once
    python -m tests.autograder.frozen_class grade FOLDER OUT       # by each version
    diff -r OUT_BEFORE OUT_AFTER

The class has complete, damaged and hostile submissions for every rubric and the real outputs that
COURSE_LOGS names. The comparison also covers what no single test looks at.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tests.autograder.class_yaml import setting
from tests.autograder.fuzz.submissions import Choices, make_class
from tests.autograder.make_record import write_lines
from tests.autograder.submissions.downloads import KEPT

ROOT = Path(__file__).parents[2]
RUBRICS = ROOT / "autograder" / "rubrics"
MESSY = 150
TABLES = {
    "roster.csv": "student,name,email,login\ncomplete,Ada L.,ada@example.org,ada\n"
    "m003-ada,Ben M.,ben@example.org,\nnobody,No Body,,\n",
    "class.yaml": "late:\n  due: {'02': '2026-03-01T23:59:00+00:00'}\n"
    "  penalty_a_day: 10%\n  free_days: 1\n"
    "roster: roster.csv\noverrides: overrides.csv\naccounting: sacct.txt\n",
    "overrides.csv": "student,lesson,check,points,reason\ncomplete,03,,8,oral exam\n"
    "complete,07,ranks,1,seen\nnobody,02,,excused,a reason\n",
    "sacct.txt": "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1234|ada|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:10:00|1|8|cpu=8,gres/gpu=2|n1\n",
}


def complete(folder: Path) -> None:
    """Write the kept outputs of each lesson's programs, and the expected answers."""
    for path in sorted(RUBRICS.glob("[0-9]*.yaml")):
        home, rubric = folder / f"{path.stem}_lesson", yaml.safe_load(path.read_text())
        for output in sorted((KEPT / path.stem).glob("*.out.txt")):
            write_lines(home / output.name.removesuffix(".txt"), [output.read_text()])
        expected = yaml.safe_load((RUBRICS / "expected" / path.name).read_text()) or {}
        given = {key: expected.get(key, "0.97") for key in rubric["answers"]}
        write_lines(home / "answers.txt", [f"{key} = {value}" for key, value in given.items()])


def make(folder: Path) -> None:
    complete(folder / "class" / "complete")
    for number in range(MESSY):
        place = folder / "one"
        make_class(Choices(random.Random(number).randbytes(3000)), place)
        for student in sorted((place / "class").iterdir()):
            student.rename(folder / "class" / f"m{number:03d}-{student.name}")
        shutil.rmtree(place)
    for log in sorted(Path(os.environ["COURSE_LOGS"]).glob("0*")):
        home = folder / "class" / f"log-{log.stem}" / "02"
        write_lines(home / f"{log.stem}.out", [log.read_bytes().decode("utf-8", "surrogateescape")])
    for name, text in TABLES.items():
        (folder / name).write_text(text)


def grade(folder: Path, out: Path) -> None:
    out.mkdir(parents=True)

    def call(name: str, *words: object) -> None:
        command = [sys.executable, "-m", "autograder", *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        text = f"{done.stdout}\n--- {done.returncode}\n{done.stderr}"
        (out / f"{name}.txt").write_text(text.replace(str(out), "OUT"))

    site, home = out / "calibration.yaml", out / "class"
    call("calibrate", "calibrate", folder / "class/complete", "--out", site)
    words = ["--from", "folders", "--into", home, "--roster", folder / "roster.csv"]
    call("collect", "collect", folder / "class", *words)
    for profile in ("smoke", "full"):
        words = ["--class", folder / "class.yaml", "--profile", profile]
        words += setting("calibration", site)
        call(f"grade-{profile}", "grade", home, "--out", out / profile, *words)
    for log in sorted((folder / "class").glob("log-*/02/*.out")):
        call(f"read-{log.stem}", "read", "--json", log)
        call(f"show-{log.stem}", "read", log)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=("make", "grade"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    words = parser.parse_args()
    folder = words.folder.resolve()
    make(folder) if words.do == "make" else grade(folder, words.out.resolve())


if __name__ == "__main__":
    main()
