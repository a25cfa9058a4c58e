"""Submitted programs are run again on real Slurm, under an account of their own.

The tests cover what is reproduced, what is not, and what a hostile program can reach.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.codes import FindingCode
from tests.autograder.make_record import make_record, write_lines
from tests.cluster.box_students import ON_BOX

pytestmark = pytest.mark.slurm
RERUNNER = "rerunner"
PROGRAMS = Path(sys.executable).parent
HOSTILE = Path(__file__).with_name("hostile.py")
SITE = Path(__file__).parents[3] / "cluster/sites/box.sh"


@pytest.fixture(scope="module")
def rerunner(box):
    added = box("user", "add", RERUNNER)
    assert added.returncode == 0, added.stderr
    return RERUNNER


def rerun(folder, *words, **variables):
    command = ["timeout", "-k", "5", "300", f"{PROGRAMS}/cluster", "rerun", *map(str, words)]
    command += ["--as", RERUNNER, "--profile", "smoke"]
    known = os.environ | {"COURSE_SITE": str(SITE)} | variables
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    return done


def evidence(folder):
    """Return the evidence level and the findings' codes, by student and lesson."""
    words = ["grade", "class", "--profile=smoke", "--set=reruns=reruns", "--out=grades"]
    done = subprocess.run(
        [f"{PROGRAMS}/autograder", *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    records = [json.loads(path.read_text()) for path in folder.glob("grades/records/*.json")]
    return {
        (grade["student"], grade["lesson"]): (
            grade["tier"],
            [found["code"] for found in grade["findings"] if found["severity"] != "information"],
        )
        for record in records
        for grade in record["grades"]
    }


# --- honest and forged --------------------------------------------------------------------------


def run_solution(course, student, name):
    """Run the solution's job as a student, and return the folder to submit."""
    student.do(f"cp -r {course}/solutions/{name} .")
    submit = "cluster submit --wait job.sbatch --epochs 2 --train-samples 12800"
    student.do(f"cd {name} && {ON_BOX} && {submit}", seconds=180)
    return Path(student.folder) / name


def replaying(text):
    """Return a program that prints a saved output with the number of the job that it runs in."""
    return (
        f"import os\ntext = {text!r}\nold = {re.findall(r'job_id...([0-9]+)', text)[0]!r}\n"
        """print(text.replace(f'"job_id":"{old}"', f'"job_id":"{os.environ["SLURM_JOB_ID"]}"'))\n"""
    )


def test_honest_runs_are_reproduced_and_a_stored_output_is_not(rerunner, course, student, tmp_path):
    serial = run_solution(course, student, "01_learning")
    group = tmp_path / "class"
    shutil.copytree(run_solution(course, student, "06_allreduce"), group / "ada" / "06_allreduce")
    for name in ("ada", "replayed"):
        shutil.copytree(serial, group / name / "01_learning")
        [output] = (group / name / "01_learning").glob("*.out")
    (group / "replayed/01_learning/train.py").write_text(replaying(output.read_text()))

    rerun(tmp_path, "class", "01", "--draw", 9, "--seed", 1)
    rerun(tmp_path, "class/ada", "06")
    found = evidence(tmp_path)
    assert found["ada", "01"] == ("reproduced", [])
    assert found["ada", "06"] == ("reproduced", [])
    tier, codes = found["replayed", "01"]
    assert tier == "self-consistent"
    assert set(codes) == {FindingCode.RERUN_FEWER_POINTS, FindingCode.OTHER_PROGRAM}

    told = json.loads((tmp_path / "reruns/ada/06/rerun.json").read_text())
    assert [job["state"] for job in told["jobs"]] == ["COMPLETED"]
    left = os.listdir(f"/home/{RERUNNER}")
    assert not [name for name in left if name.startswith("rerun-")]


# --- hostile ------------------------------------------------------------------------------------

STAND_INS = ("lessons/__init__.py", "lessons/toolkit/record/__init__.py")
SLURM = [["127.0.0.1", 6817], ["127.0.66.1", 6818]]  # the controller, and a node's daemon


def program(**targets):
    text = HOSTILE.read_text()
    assert text.count("TARGETS: dict = {}") == 1
    return text.replace("TARGETS: dict = {}", f"TARGETS: dict = {targets!r}")


def last_json(text):
    return json.loads(next(line for line in text.splitlines() if line.startswith('{"reached"')))


def test_a_hostile_program_reaches_nothing(rerunner, box, course, neighbour, tmp_path):
    group = tmp_path / "class"
    other = group / "ben" / "01_learning"
    write_lines(other / "01_numpy_1.out", make_record(lesson="01", source="numpy"))
    neighbour.write("mine.txt", "of another student")
    (tmp_path / "reruns").mkdir()
    evidence_of_others = tmp_path / "grades" / "records"
    write_lines(evidence_of_others / "ben.json", ["{}"])
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen = {
            "files": [
                *(f"{other}/01_numpy_1.out", f"{evidence_of_others}/ben.json"),
                *(f"{neighbour.folder}/mine.txt", "/etc/shadow", f"{course}/tests/conftest.py"),
                f"{course}/solutions/01_learning/train.py",
                f"{course}/autograder/rubrics/expected/01.yaml",
            ],
            "folders": [
                *(str(group), str(tmp_path), str(Path.home()), neighbour.folder),
                f"{course}/solutions",
            ],
            "addresses": [["127.0.0.1", server.getsockname()[1]], *SLURM],
            "commands": [["squeue", "--noheader"]],
            "daemons": ["slurmd", "slurmctld", "munged"],
        }
        (tmp_path / "control.py").write_text(program(**seen, overwrite=[]))
        control = [sys.executable, tmp_path / "control.py", "alone"]
        done = subprocess.run(control, capture_output=True, text=True, timeout=60, check=True)
        outside = last_json(done.stdout)["reached"]
        os.kill(int(outside["behind"].split()[1]), 9)
        assert [what for what in outside.values() if what.startswith("no")] == []

        hidden = program(
            **seen | {"addresses": [*seen["addresses"], ["192.0.2.1", 80]]},
            overwrite=[
                *(f"{course}/lessons/toolkit/__init__.py", f"{course}/cluster/rerun/site.sh"),
            ],
        ).replace('["squeue", "--noheader"]', '["sbatch", "--wrap=true"]')
        inside = rerun_hostile(tmp_path, group, hidden)
        server.settimeout(1)
        server.accept()[0].close()  # the control run's connection
        with pytest.raises(TimeoutError):
            server.accept()

    reached = inside["reached"]
    left_behind = reached.pop("behind")
    assert left_behind.startswith("left")
    assert {name: what for name, what in reached.items() if not what.startswith("no: ")} == {}
    running = subprocess.run(["pgrep", "-u", RERUNNER, "-f", "sleep 987"], capture_output=True)
    assert running.stdout == b""

    secret = {name for name, text in inside["variables"].items() if "secret" in text.lower()}
    assert secret == set()
    assert inside["variables"]["HOME"] == inside["here"]
    assert inside["here"].startswith(f"/home/{RERUNNER}/rerun-")
    assert inside["user"] not in (0, os.getuid())
    assert inside["arguments"] == ["--epochs", "3", "a word; touch /tmp/x", "$(id)"]
    assert inside["beside"] == "the student's own module"
    assert all(not path.startswith(inside["here"]) for path in inside["modules"])
    assert inside["modules"][2] == f"{course}/lessons/toolkit/record/__init__.py"
    # The program printed no record, so nothing is reproduced. It achieved nothing else.
    tier, codes = evidence(tmp_path)["eve", "01"]
    assert tier == "self-consistent"
    assert FindingCode.RERUN_FEWER_POINTS in codes


def rerun_hostile(folder, group, text):
    words = ["--epochs", "3", "a word; touch /tmp/x", "$(id)"]
    facts = {"lesson": "01", "source": "numpy", "model": "mlp64", "run": "00e0e0e0"}
    record = make_record(**facts, job_id="99", params=50890, arguments=words, threads=1)
    write_lines(group / "eve" / "01_learning" / "01_numpy_99.out", record)
    place = group / "eve" / "01_learning"
    (place / "train.py").write_text(text)
    (place / "beside.py").write_text('NAME = "the student\'s own module"\n')
    for name in STAND_INS:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("raise SystemExit('a stand-in was imported')\n")
    rerun(folder, "class/eve", "01", SECRET_OF_MINE="a secret", COURSE_SECRET="another secret")
    [output] = (folder / "reruns/eve/01/outputs").glob("*.out")
    [error] = (folder / "reruns/eve/01/outputs").glob("*.err")
    assert '{"reached"' in output.read_text(), output.read_text() + error.read_text()
    return last_json(output.read_text())
