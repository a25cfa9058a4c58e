"""Tests of what notebooks import: the runs of jobs, and checks of programs as they are saved."""

import os
import sys

import pytest

from lessons import course
from lessons.toolkit.checks.shared.check import CheckFailed
from tests.autograder.make_record import make_record, write_lines

RIGHT = "    ends = range(batch, n, batch)\n    return np.array_split(rng.permutation(n), ends)\n"
WRONG = "    return [np.arange(n)]\n"


def save(folder, body):
    text = f"import numpy as np\n\n\ndef minibatches(n, batch, rng):\n{body}"
    (folder / "my_program.py").write_text(text)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a program in the notebook's folder, imported before it was right."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    save(tmp_path, WRONG)
    import my_program

    yield my_program
    del sys.modules["my_program"]


def test_a_check_sees_the_program_as_it_is_saved(program, tmp_path, capsys):
    os.utime(program.__file__, (os.path.getmtime(program.__file__) - 150,) * 2)
    with pytest.raises(CheckFailed, match=r"Exercise 1\.4") as caught:
        course.check("1.4", program.minibatches)
    assert caught.value.lines()[-1] == "(my_program.py as saved 2 minutes ago)"
    save(tmp_path, RIGHT)
    course.check("1.4", program.minibatches)
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("Exercise 1.4: right. ")
    assert "array_split" in course.show_code(program.minibatches).data


@pytest.mark.parametrize(
    ("line", "error"),
    [("x = (1 2)", "SyntaxError"), ("  x = 1", "IndentationError"), ("lost", "NameError"),
     ("import no_such_module", "ModuleNotFoundError")],
)  # fmt: skip
def test_a_program_with_an_error_fails_its_check_with_file_and_line(program, tmp_path, line, error):
    (tmp_path / "my_program.py").write_text(f"x = 1\n{line}\n")
    with pytest.raises(CheckFailed, match=f"{error} in my_program.py, line 2: ") as caught:
        course.check("1.4", program.minibatches)
    assert caught.value.exercise == "1.4"
    assert caught.value.__suppress_context__


def test_functions_of_the_notebook_and_of_packages_are_as_they_are():
    def function():
        pass

    assert course.as_saved([function, len, 3, sys]) == [function, len, 3, sys]


def test_a_job_gives_its_runs_once(tmp_path, monkeypatch):
    asked = []

    def submit_once(*words, **options):
        asked.append((words, options))
        return [write_lines(tmp_path / "02_1.out", make_record())]

    monkeypatch.setattr(course.notebook, "submit_once", submit_once)
    [run] = course.submit("job.sbatch", "--epochs", 3, options={"ntasks": "2"})
    assert asked == [(("job.sbatch", "--epochs", 3), {"options": {"ntasks": "2"}, "again": False})]
    monkeypatch.chdir(tmp_path)
    [again] = course.runs("02_*.out")
    assert again.test_accuracy.value == run.test_accuracy.value
    assert course.runs("03_*.out") == []
