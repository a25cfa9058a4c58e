"""One person can follow a submission: grading it takes few of the grader's files.

A file is executed if one of its functions is called between a submission's files and its grade. It
is loaded if the whole command imports it.
"""

import json
import subprocess
import sys

from tests.autograder.term.hand_ins import work

MOST_EXECUTED, MOST_LOADED = 40, 100  # an empty file is not counted
COUNT = """
import json, os, sys
from autograder.classroom import grading
from autograder.cli import main

home, executed, grade = os.path.abspath("autograder"), set(), grading.grade

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(home):
        executed.add(code.co_filename)

def noted(*arguments):
    sys.setprofile(note)
    try:
        return grade(*arguments)
    finally:
        sys.setprofile(None)

grading.grade = noted
try:
    main(sys.argv[1:])
finally:
    files = {getattr(module, "__file__", None) for module in sys.modules.values()}
    ours = [file for file in files if file and file.startswith(home) and os.path.getsize(file)]
    print(json.dumps([sorted(executed), sorted(ours)]))
"""


def test_grading_one_submission_executes_and_loads_few_files(tmp_path):
    """Lesson 07 has the most kinds of checks: a speed job, a probe and runs that are compared."""
    for name, data in work("07", "ada").items():
        file = tmp_path / "class" / "ada" / "07" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    words = ["grade", tmp_path / "class", "--out", tmp_path / "grades", "--profile", "smoke"]
    command = [sys.executable, "-c", COUNT, *map(str, words), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    executed, loaded = json.loads(done.stdout.splitlines()[-1])
    assert 20 < len(executed) <= MOST_EXECUTED, executed
    assert len(loaded) <= MOST_LOADED, loaded
