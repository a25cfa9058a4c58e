"""The tutorials: the files and commands on their pages do what the pages say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from click.testing import CliRunner

from autograder.cli import main as autograder
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in
from tests.example.class_of_five import write_class

DOCS = Path(__file__).parents[1] / "docs"
# A line "`path of a file`:", and below it the file's text, indented.
FILE = re.compile(r"^`([^`\n]+)`:\n\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)


def write_files(page: str, folder: Path) -> None:
    for name, text in FILE.findall((DOCS / page).read_text()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(re.sub("^    ", "", text, flags=re.MULTILINE))


def evidence(folder: Path) -> dict[str, str]:
    rows = json.loads((folder / "grades.json").read_text())["grades"]
    return {row["student"]: row["tier"] for row in rows}


def run(*words: object) -> int:
    return CliRunner().invoke(autograder, [str(word) for word in words]).exit_code


def grades(folder: Path) -> dict[tuple[str, str], float]:
    rows = json.loads((folder / "grades.json").read_text())["grades"]
    return {(row["student"], row["lesson"]): row["score"] for row in rows}


def test_the_grader_alone(tmp_path):
    write_files("own-course.md", tmp_path)
    assert run("read", tmp_path / "class/ada/01_mnist/slurm-101.out") == 0
    assert run("rubric", "check", tmp_path / "rubrics/01.yaml") == 0
    words = [tmp_path / "class", "--rubrics", tmp_path / "rubrics", "--out", tmp_path / "grades"]
    words += setting("accounting", tmp_path / "sacct.txt")
    assert run("grade", *words) in (0, 1)
    assert grades(tmp_path / "grades") == {("ada", "01"): 4, ("ben", "01"): 4}
    assert evidence(tmp_path / "grades") == {"ada": "unverified", "ben": "contradicted"}
    looks = [line.split(",", 10)[10] for line in (tmp_path / "grades/grades.csv").open()][1:]
    assert looks[1].strip('",\n') in (DOCS / "own-course.md").read_text()


def test_the_first_class(tmp_path):
    example = tmp_path / "build/example"
    write_class(example)
    write_files("first-class.md", tmp_path)
    words = [example / "class", "--profile", "smoke", "--roster", example / "roster.csv"]
    assert run("grade", *words, "--out", example / "grades") == 1
    before = grades(example / "grades")
    decided = setting("overrides", example / "overrides.csv")
    assert run("grade", *words, *decided, "--out", example / "grades") == 1
    after = grades(example / "grades")
    assert {key for key in after if after[key] != before[key]} == {("zoe", "01")}
    assert after["zoe", "01"] == 5


def test_the_check_of_a_push(tmp_path):
    """The workflow on the page is green if a lesson's outputs earn all points, and red if not."""
    page = (DOCS / "github.md").read_text()
    steps = yaml.safe_load(page[page.index("    name: check") :].split("\n\n")[0])["jobs"]["check"]
    install, check = (step["run"] for step in steps["steps"] if "run" in step)
    assert Path(DOCS.parent, install.split("--constraint ")[1].split()[0]).is_file()
    folder = hand_in(tmp_path / "lessons/02_serial")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def pushed() -> int:
        command = f"git init -q . && git add --all --force . && {check}"
        environment = {**os.environ, "PATH": path}
        words = ["bash", "-ec", command]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True).returncode

    assert pushed() == 0
    (folder / "02_torch_2.out").unlink()
    assert pushed() == 1
