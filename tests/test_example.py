"""`make example`: five students, graded without a framework, with something to see in each row."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main as autograder
from tests.example.class_of_five import write_class

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return the example's folder and its grades by (student, lesson)."""
    folder = tmp_path_factory.mktemp("example")
    write_class(folder)
    words = ["grade", folder / "class", "--roster", folder / "roster.csv", "--profile", "smoke"]
    done = CliRunner().invoke(autograder, [*map(str, words), "--out", str(folder / "grades")])
    assert done.exit_code == 1, done.output  # somebody should look at it
    rows = json.loads((folder / "grades" / "grades.json").read_text())["grades"]
    return folder, {(row["student"], row["lesson"]): row for row in rows}


def test_there_is_one_of_each_kind_to_see(graded):
    _, rows = graded
    assert rows["ada", "07"]["score"] == 10
    assert rows["dan", "02"]["score"] == 9
    assert rows["eva", "07"]["status"] == "missing"
    assert 5 < rows["hana", "07"]["score"] < 10
    assert rows["zoe", "01"]["tier"] == "unverified"
    assert rows["ada", "02"]["look"]
    assert rows["zoe", "02"]["look"]


def test_it_needs_no_framework(tmp_path):
    code = (
        "import sys; from pathlib import Path; import autograder.commands.grade;"
        "from tests.example.class_of_five import write_class; write_class(Path(sys.argv[1]));"
        "print(sorted({'torch', 'tensorflow', 'keras', 'matplotlib'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
