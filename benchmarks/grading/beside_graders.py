"""Compare this autograder, nbgrader and Otter by the trivial submissions they grade per minute.

python benchmarks/grading/beside_graders.py --submissions 30

Each of the others is installed into its own virtual environment (about 1 GB together), in a
temporary folder unless --environments names a folder to keep. nbgrader and Otter execute a notebook
with one question. The autograder reads one output with a run record. This is what each grader needs
for one answer. Otter grades without Docker and in one process, which is its fastest way.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.autograder.make_record import make_record, write_lines  # noqa: E402

NBGRADER = ("nbgrader==0.9.6", "ipykernel")
OTTER = ("otter-grader==7.0.0", "ipykernel")
REPEATS = 3  # of the autograder, whose runs are short; the median counts

RUBRIC = """
lesson: "02"
title: One question
points: 1
runs: {keras: {where: {source: keras}}}
checks:
  - {id: accuracy, title: It learned, points: 1,
     require: [{metric: test_accuracy, of: keras, at_least: 0.9}]}
"""
OTTER_LOOP = """
import sys
from otter.api import grade_submission
for path in sys.argv[2:]:
    score = grade_submission(path, ag_path=sys.argv[1], quiet=True).total
    assert score == 1, (path, score)
"""


Cost = tuple[float, float]  # seconds; CPU seconds, less affected by other load


# Compiled modules are kept, as after a first run and as pip leaves the others' packages.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def now() -> Cost:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def since(begin: Cost) -> Cost:
    end = now()
    return end[0] - begin[0], end[1] - begin[1]


def environment(folder: Path, name: str, packages: Sequence[str]) -> Path:
    """Return the bin/ folder of a virtual environment with these packages, making it if needed."""
    target = folder / name
    if not (target / "bin" / "jupyter").exists():
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
        install = [str(target / "bin" / "pip"), "install", "--quiet", *packages]
        subprocess.run(install, check=True)
    return target / "bin"


def run(words: Sequence[object], bin_: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    home = cwd / "home"
    home.mkdir(exist_ok=True)
    env = {**ENVIRONMENT, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "HOME": str(home)}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1) or (done.returncode and "autograder" not in command):
        sys.exit(f"{' '.join(command)[:200]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def notebook(path: Path, cells: Sequence[dict]) -> None:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    data = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    write_lines(path, [json.dumps(data)])


def code(name: str, source: str, **metadata: object) -> dict:
    cell = {"cell_type": "code", "id": name, "metadata": metadata, "source": source}
    return cell | {"outputs": [], "execution_count": None}


def markdown(name: str, source: str) -> dict:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def with_nbgrader(folder: Path, bin_: Path, count: int) -> Cost:
    facts = {"schema_version": 3, "task": False, "locked": False}
    question = {"grade": False, "solution": True, "grade_id": "answer"} | facts
    test = {"grade": True, "solution": False, "grade_id": "test", "points": 1} | facts
    solution = "### BEGIN SOLUTION\nanswer = 4\n### END SOLUTION"
    cells = [
        code("answer", solution, nbgrader=question),
        code("test", "assert answer == 4", nbgrader=test | {"locked": True}),
    ]
    notebook(folder / "source" / "one" / "one.ipynb", cells)
    write_lines(folder / "nbgrader_config.py", ["c = get_config()"])
    nbgrader = bin_ / "nbgrader"
    run([nbgrader, "generate_assignment", "one"], bin_, folder)
    release = json.loads((folder / "release" / "one" / "one.ipynb").read_text())
    release["cells"][0]["source"] = "answer = 4"
    for number in range(count):
        place = folder / "submitted" / f"s{number:04d}" / "one" / "one.ipynb"
        write_lines(place, [json.dumps(release)])
    begin = now()
    run([nbgrader, "autograde", "one"], bin_, folder)
    cost = since(begin)
    graded = len(list((folder / "autograded").glob("*/one/one.ipynb")))
    assert graded == count, f"nbgrader graded {graded} of {count}"
    return cost


def with_otter(folder: Path, bin_: Path, count: int) -> Cost:
    cells = [
        {**markdown("a", "# ASSIGNMENT CONFIG\nenvironment: null"), "cell_type": "raw"},
        {**markdown("b", "# BEGIN QUESTION\nname: q1\npoints: 1"), "cell_type": "raw"},
        markdown("c", "Two and two?"),
        {**markdown("d", "# BEGIN SOLUTION"), "cell_type": "raw"},
        code("e", "answer = 4 # SOLUTION"),
        {**markdown("f", "# END SOLUTION"), "cell_type": "raw"},
        {**markdown("g", "# BEGIN TESTS"), "cell_type": "raw"},
        code("h", "assert answer == 4"),
        {**markdown("i", "# END TESTS"), "cell_type": "raw"},
        {**markdown("j", "# END QUESTION"), "cell_type": "raw"},
    ]
    notebook(folder / "one.ipynb", cells)
    run([bin_ / "otter", "assign", "--no-run-tests", "one.ipynb", "dist"], bin_, folder)
    (made,) = (folder / "dist" / "autograder").glob("*.zip")
    student = json.loads((folder / "dist" / "student" / "one.ipynb").read_text())
    for cell in student["cells"]:
        if cell["cell_type"] == "code" and "answer = ..." in "".join(cell["source"]):
            cell["source"] = "answer = 4"
    paths = [folder / "submissions" / f"s{number:04d}.ipynb" for number in range(count)]
    for path in paths:
        write_lines(path, [json.dumps(student)])
    begin = now()
    run([bin_ / "python", "-c", OTTER_LOOP, made, *paths], bin_, folder)
    return since(begin)


def with_ours(folder: Path, count: int) -> Cost:
    write_lines(folder / "rubrics" / "02.yaml", [RUBRIC])
    for number in range(count):
        lines = make_record(job_id=str(number))
        write_lines(folder / "class" / f"s{number:04d}" / "02" / "job_1.out", lines)
    times = []
    for repeat in range(REPEATS):
        words = [sys.executable, "-m", "autograder", "grade", folder / "class"]
        words += ["--rubrics", folder / "rubrics", "--out", folder / f"grades{repeat}"]
        begin = now()
        command = [str(word) for word in words]
        done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
        times.append(since(begin))
        assert done.stdout.count("1/1") == count, done.stderr
    return sorted(times)[REPEATS // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=30)
    parser.add_argument("--environments", type=Path, help="Folder to keep the others' packages in.")
    args = parser.parse_args()
    scratch = Path(tempfile.mkdtemp())
    others = (args.environments or scratch).resolve()
    count = args.submissions
    try:
        for name in ("ours", "nbgrader", "otter"):
            (scratch / "work" / name).mkdir(parents=True)
        ours = with_ours(scratch / "work" / "ours", count)
        rows = [("autograder", ours)]
        bin_ = environment(others, "nbgrader", NBGRADER)
        rows.append(("nbgrader", with_nbgrader(scratch / "work" / "nbgrader", bin_, count)))
        bin_ = environment(others, "otter", OTTER)
        rows.append(("Otter", with_otter(scratch / "work" / "otter", bin_, count)))
        for name, (seconds, cpu) in rows:
            print(
                f"{name:11s}{count:5d} submissions: {seconds:7.2f} s ({cpu:.2f} s of CPU), "
                f"{60 * count / seconds:.0f} a minute; {seconds / ours[0]:.0f} × the autograder's "
                f"time, {cpu / ours[1]:.0f} × its CPU"
            )
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
