"""Tests that `lessons check` names the error of a cell or program with its line."""

import pytest

from tests.lessons.student.small_lesson import RIGHT, fill, rows, whole


def test_a_broken_program_is_one_line(student, lessons_command):
    fill(student, *RIGHT)
    (student / "train.py").write_text("def triple(x:\n")
    done = lessons_command("check", "01")
    assert done.exit_code == 1
    assert "SyntaxError" in done.output
    assert "Traceback" not in done.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "    y = (x\n    return 2 * x",
            "SyntaxError in the cell of exercise 1.1, line 3: '(' was never closed y = (x",
        ),
        (
            "    return 2 * x\n   x",
            "IndentationError in the cell of exercise 1.1, line 4: unindent does not match any "
            "outer indentation level x",
        ),
        ("    return 2 * x\ndel double; 1 / 0", "ZeroDivisionError in the cell of exercise 1.1,"),
    ],
)
def test_an_error_of_an_exercises_cell_is_named_with_its_line(
    student, lessons_command, code, words
):
    fill(student, RIGHT[0], ("Exercise 1.1", code), RIGHT[2])
    done = lessons_command("check", "01")
    assert words in whole(done.output, "1.1")
    assert "NameError" not in done.output
    assert rows(done.output)["1.2"][0] == "passed"


@pytest.mark.slow
def test_an_error_at_the_top_of_a_program_is_named_with_its_line(student, lessons_command):
    fill(student, *RIGHT)
    program = student / "train.py"
    lines = len(program.read_text().splitlines())
    program.write_text(program.read_text() + "triple.foo()\n")
    done = lessons_command("check", "01")
    said = f"AttributeError in train.py, line {lines + 1}: 'function' object has no attribute 'foo'"
    assert f"{said} triple.foo()" in whole(done.output, "1.2")
    assert f"…`: {said}\n    triple.foo()\n" in done.output
    assert "NameError" not in done.output


def test_a_syntax_error_of_a_program_is_named_with_its_line(student, lessons_command):
    (student / "train.py").write_text("x = 1\ndef triple(x:\n")
    done = lessons_command("check", "01")
    said = whole(done.output, "1.2")
    assert said == "SyntaxError in train.py, line 2: '(' was never closed def triple(x:"


@pytest.mark.slow
def test_a_package_that_is_missing_is_no_missing_program(student, lessons_command):
    (student / "train.py").write_text("import in_package\n")
    (student / "job.sbatch").write_text("launch python train_in_package.py\n")
    done = lessons_command("check", "01")
    said = "ModuleNotFoundError in train.py, line 1: No module named 'in_package'"
    assert said in done.output
    assert "is missing in" not in done.output
