"""Grade the same class with two versions of the grader and compare their output byte by byte.

    python -m tests.autograder.frozen_class make FOLDER            # once
    python -m tests.autograder.frozen_class grade FOLDER OUT       # by each version
    diff -r OUT_BEFORE OUT_AFTER

The class has complete, damaged and hostile submissions for every rubric and the real outputs that
COURSE_LOGS names. It is graded with every option. The comparison also covers what no single test
looks at.
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
from tests.autograder.make_record import make_record, write_lines

ROOT = Path(__file__).parents[2]
RUBRICS = ROOT / "autograder" / "rubrics"
MESSY = 150
TABLES = {
    "roster.csv": "student,name,email,canvas_id,moodle_id,login\n"
    "complete,Ada L.,ada@example.org,101,Participant 7,ada\n"
    "m003-ada,Ben M.,ben@example.org,102,Participant 8,ben\nnobody,No Body,,,,\n",
    "class.yaml": "late:\n"
    "  due: {'02': '2026-03-01T23:59:00+00:00', '07': '2026-03-01T23:59:00+00:00'}\n"
    "  penalty_a_day: 10%\n  free_days: 1\n"
    "roster: roster.csv\nextensions: extensions.csv\noverrides: overrides.csv\n"
    "accounting: sacct.txt\n",
    "extensions.csv": "student,lesson,days,reason\ncomplete,02,2,ill\n",
    "overrides.csv": "student,lesson,check,points,reason\ncomplete,03,,8,oral exam\n"
    "complete,07,ranks,1,seen\nnobody,02,,excused,a reason\n",
    "times.csv": "student,lesson,time\ncomplete,02,2026-03-03T20:00:00+00:00\n",
    "sacct.txt": "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1234|ada|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:10:00|1|8|cpu=8,gres/gpu=2|n1\n",
    "canvas.csv": "Student,ID,SIS User ID,SIS Login ID,Section,02 Serial (5501),Lab 2 (5502)\n"
    '    Points Possible,,,,,100,5\n"L., Ada",101,,al1,A,,4\n',
    "02-moodle.csv": "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
    "Last modified (grade),Feedback\nParticipant 7,Ada L.,ada@example.org,Submitted,-,10.00,-,\n",
}


def complete(folder: Path) -> None:
    """Write each lesson's runs as its rubric requires them, on one and on several workers."""
    for path in sorted(RUBRICS.glob("[0-9]*.yaml")):
        rubric = yaml.load(path.read_text(), yaml.CSafeLoader)
        home, job = folder / f"{path.stem}_lesson", 1000
        for number, (name, run) in enumerate(rubric["runs"].items()):
            where = dict(run["where"])
            sizes = [where.pop("world_size")] if "world_size" in where else [1, 2]
            for size in sizes:
                job += 1
                lines = make_record(
                    lesson=path.stem,
                    run=f"{number:02x}{size:02x}{path.stem}aa",
                    size=int(size),
                    seconds=(2.0, 1.1 / size, 1.0 / size, 1.05 / size),
                    job_id=str(job),
                    measures=({"name": "allreduce_s", "value": 0.01, "unit": "s", "bytes": 4000},),
                    **({"source": "keras"} | where),
                )
                write_lines(home / f"{name}_{job}.out", lines)
        expected = yaml.load((RUBRICS / "expected" / path.name).read_text(), yaml.CSafeLoader) or {}
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
    calibrated = out / "calibration.yaml"
    programs = [sys.executable, "-m", "autograder"]

    def call(name: str, *words: object) -> None:
        done = subprocess.run(
            [*programs, *map(str, words)], cwd=ROOT, capture_output=True, text=True
        )
        text = f"{done.stdout}\n--- {done.returncode}\n{done.stderr}"
        (out / f"{name}.txt").write_text(text.replace(str(out), "OUT"))

    call("calibrate", "calibrate", folder / "class/complete", "--out", calibrated)
    tables = {path.stem: path for path in sorted(folder.glob("*.*"))}
    home = out / "class"
    call("collect", "collect", folder / "class", "--from", "folders", "--into", home,
         "--roster", tables["roster"], "--times", tables["times"])  # fmt: skip
    for profile in ("smoke", "full"):
        words = ["--class", tables["class"], "--profile", profile]
        words += ["--canvas", folder / "canvas.csv"]
        words += ["--moodle", folder / "02-moodle.csv", *setting("calibration", calibrated)]
        call(f"grade-{profile}", "grade", home, "--out", out / profile, *words)
    shutil.copytree(home / "complete", out / "one" / "complete")
    words = ["--profile", "full", "--gradescope", out / "results.json"]
    call("gradescope", "grade", out / "one", *words)
    for log in sorted((folder / "class").glob("log-*/02/*.out")):
        call(f"read-{log.stem}", "read", "--json", log)
        call(f"show-{log.stem}", "read", log)
    for path in sorted(out.rglob(".*")):
        if path.is_file():
            path.unlink()  # cache keys depend on the grader's code
        elif path.exists():
            shutil.rmtree(path)


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
