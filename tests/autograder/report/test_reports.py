"""Files for other systems: each has the form that the system documents."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from autograder.codes import FindingCode, ReasonCode
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record, write_lines

ROOT = Path(__file__).parents[3]
ROSTER = (
    "student,name,email,canvas_id,sis_login,moodle_id,section\n"
    "ada,Ada L.,ada@example.org,101,al1,Participant 7,A\n"
    "ben,Ben M.,ben@example.org,102,bm2,Participant 8,A\n"
)


def table(path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.fixture
def handed_in(tmp_path):
    """Write a class in which ada has everything right and ben one wrong answer."""
    hand_in(tmp_path / "class" / "ada" / "02")
    keras = make_record(job_id="77")
    torch = make_record(source="torch", run="b" * 8, job_id="78", test_accuracy=0.975)
    wrong = RIGHT_ANSWERS | {"faults_serial": "ABCD"}
    hand_in(tmp_path / "class" / "ben" / "02", keras=keras, torch=torch, answers=wrong)
    (tmp_path / "roster.csv").write_text(ROSTER + "eve,Eve N.,eve@example.org,103,en3,,A\n")
    return tmp_path


def test_tables(handed_in, grade):
    result = grade(handed_in / "class", "--roster", handed_in / "roster.csv")
    out = result.folder
    rows = table(out / "grades.csv")
    assert [(r["student"], r["score"], r["status"]) for r in rows] == [
        ("ada", "10.0", "graded"),
        ("ben", "9.67", "graded"),
        ("eve", "", "missing"),
    ]
    assert "2 graded, 1 missing, 0 for a person" in result.stderr
    checks = table(out / "checks.csv")
    assert sum(float(c["score"]) for c in checks if c["student"] == "ada") == 10
    assert [r["score"] for r in table(out / "nbgrader.csv")] == ["10.0", "9.67", ""]


def test_json_follows_its_schema(handed_in, grade):
    out = grade(handed_in / "class").folder
    schema = json.loads(Path("docs/schemas/grade.schema.json").read_text())
    described = schema["$defs"]["Grade"]["properties"].keys()
    for record in (out / "records").glob("*.json"):
        data = json.loads(record.read_text())
        jsonschema.validate(data, schema)
        assert all(grade.keys() == described for grade in data["grades"])
    data = json.loads((out / "grades.json").read_text())
    assert [g["score"] for g in data["grades"]] == [10.0, 9.67]


@pytest.mark.parametrize("codes", [FindingCode, ReasonCode])
def test_the_schema_lists_every_code(codes):
    schema = json.loads(Path("docs/schemas/grade.schema.json").read_text())
    assert schema["$defs"][codes.__name__]["enum"] == list(codes)


def test_canvas_file_from_the_roster(handed_in, grade):
    out = grade(handed_in / "class", "--roster", handed_in / "roster.csv").folder
    rows = table(out / "canvas.csv")
    assert rows[0]["Student"].strip() == "Points Possible"
    points = {r["ID"]: r["02 A serial program, and how fast it is"] for r in rows[1:]}
    assert points == {"101": "10.0", "102": "9.67", "103": ""}


def test_gradescope_results(tmp_path):
    """The script on the page grades a submission in the layout that Gradescope has."""
    page = (ROOT / "docs/grading.md").read_text("utf-8")
    lines = page[page.index("    #!/usr/bin/env bash") :].split("\n\n")[0].splitlines()
    assert len(lines) <= 10
    home = tmp_path / "autograder"
    hand_in(home / "submission")
    command = home / "venv/bin/autograder"
    write_lines(command, [f"#!{sys.executable}", "from autograder.cli import main", "main()"])
    command.chmod(0o755)
    (home / "results").mkdir()
    script = write_lines(home / "run_autograder", [line[4:] for line in lines])
    script.write_text(script.read_text().replace("=/autograder", f"={home}"))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    data = json.loads((home / "results/results.json").read_text())
    assert sum(test["max_score"] for test in data["tests"]) == 10
    assert data["score"] == sum(test["score"] for test in data["tests"])
    assert {test["visibility"] for test in data["tests"]} == {"visible"}


@pytest.mark.parametrize("inside", [[], ["02_serial", "02_serial/train.py"]])
@pytest.mark.parametrize("known", [False, True], ids=["no roster", "roster"])
def test_who_handed_in_nothing_is_not_forgotten(handed_in, grade, inside, known):
    dan = handed_in / "class" / "dan"
    dan.mkdir()
    for name in inside:
        (dan / name).touch() if name.endswith(".py") else (dan / name).mkdir()
    roster = handed_in / "roster.csv"
    roster.write_text(ROSTER + "dan,Dan O.,dan@example.org,104,do4,,A\n")
    result = grade(handed_in / "class", *(("--roster", roster) if known else ()))
    assert result.exit_code == 1
    (line,) = [line for line in result.table if line[0] == "dan"]
    lesson, points = ("02", "–/10") if known or inside else ("–", "–/0")
    assert line[1:] == [lesson, points, "missing", "-", FindingCode.NOTHING_FOUND.heading]
    (row,) = [row for row in table(result.folder / "grades.csv") if row["student"] == "dan"]
    assert (row["score"], row["status"]) == ("", "missing")
    page = (result.folder / "index.html").read_text()
    assert "students/dan.html" in page
    assert FindingCode.NOTHING_FOUND.heading in page
    assert "answers.txt" in (result.folder / "students" / "dan.html").read_text()


def test_only_more_workers_have_a_speedup(tmp_path, grade):
    folder = hand_in(tmp_path / "class" / "ada" / "02")
    again = make_record(run="c" * 8, job_id="3", seconds=(2.0, 0.5, 0.5), started="2026-03-03")
    write_lines(folder / "02_serial_3.out", again)
    two = make_record(run="d" * 8, job_id="4", size=2, seconds=(2.0, 0.2, 0.2))
    write_lines(folder / "02_two_4.out", two)
    folder = grade(tmp_path / "class").folder
    [record] = json.loads((folder / "records/ada.json").read_text())["grades"]
    speedups = {run["job_id"]: run["speedup"] for run in record["runs"]}
    assert speedups.pop("4")["value"] > 1
    assert set(speedups.values()) == {None}
