"""Tests of a cell's outputs in the book: readable, without machine names and solutions."""

import pytest
from executed_lessons import printed
from nbformat.v4 import new_markdown_cell, new_notebook

from lessons.book import withheld
from lessons.book.outputs import in_the_book, tidy


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("$ cat /home/ada/runs/00_cluster/c_91.out", "$ cat lessons/00_cluster/c_91.out"),
        ("python: /builds/course/.venv/bin/python", "python: .venv/bin/python"),
        ("right. /home/ada/.venv, kernel python3.", "right. .venv, kernel python3."),
        ('File "/opt/x/lib/site-packages/torch/a.py"', 'File ".venv/lib/site-packages/torch/a.py"'),
        ("wrote /tmp/tmpx8/part.npy", "wrote …/part.npy"),
        ("3 / 4 of 1/2, 10 images/s", "3 / 4 of 1/2, 10 images/s"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)  # fmt: skip
def test_folders_of_the_machine_are_not_shown(said, shown):
    assert tidy(said) == shown


def shown(*outputs, rewrite=str):
    return list(in_the_book(list(outputs), rewrite))


def test_pieces_of_one_stream_are_one_text_and_noise_of_tensorflow_is_left_out():
    noise = "WARNING: All log messages before absl::InitializeLog() is called …\n"
    noise += "I0000 00:00:1795391396.804881    3975 port.cc:153] oneDNN custom operations are on.\n"
    found = shown(
        printed("job 9: RUNNING\n"), printed("job 9: COMPLETED\n\n"), printed(noise, "stderr")
    )
    assert [output["text"] for output in found] == ["job 9: RUNNING\njob 9: COMPLETED\n"]
    [kept] = shown(printed(noise + "KeyError: 'lr'\n", "stderr"))
    assert kept["text"] == "KeyError: 'lr'\n"


def test_sliders_stay_and_other_html_does_not():
    moving = '<div class="pipeline-sliders">…</div>'
    for html, kept in ((moving, {"text/html": moving}), ("<b>1</b>", {"text/plain": "x"})):
        data = {"text/html": html, "text/plain": "x"}
        [output] = shown({"output_type": "display_data", "data": data, "metadata": {}})
        assert output["data"] == kept


SOLVED = """def f(x):
    ### BEGIN SOLUTION Exercise 2.1: twice x
    return 2 * x
    ### END SOLUTION
"""
GAP = 'def f(x):\n    raise NotImplementedError("Exercise 2.1: twice x")\n'


def test_a_printed_program_has_its_gaps():
    assert withheld.program_text(SOLVED, set()) == GAP
    assert withheld.program_text("no program", set()) == "no program"


def test_of_a_printed_diff_no_line_of_a_gap_stays():
    old, new = "-    return 4", "".join(f"+{line}\n" for line in SOLVED.splitlines())
    text = f"3 new lines:\n--- 01_a/train.py\n+++ train.py\n@@ -2 +2,4 @@\n-old = 1\n{old}\n{new}"
    assert withheld.program_text(text, {"import os", "old = 1", *GAP.splitlines()}) == (
        "3 new lines:\n--- 01_a/train.py\n+++ train.py\n@@ -2 +2,4 @@\n-old = 1\n+def f(x):"
    )


@pytest.mark.parametrize(
    ("cell", "gives_away"),
    [
        ("### BEGIN SOLUTION Answer: run it\nrun('x')\n### END SOLUTION", True),
        ("### BEGIN SOLUTION Answer: run it\nrun('x')\n### END SOLUTION\nplot()", False),
        ("plot()", False),
        ("%matplotlib inline", False),
    ],
)
def test_the_value_of_a_gaps_last_line_is_the_gaps_own(cell, gives_away):
    assert withheld.value_of_gap(cell) is gives_away


@pytest.mark.parametrize(
    ("line", "expected", "kept_back"),
    [
        ("you computed 153.8 MB", 153.75, True),
        ("2,744 images/s on 64", 2744, True),
        ("the laws say 59 to 715", 715, True),
        ("the laws say 59 to 716", 715, False),
        ("epoch 3: 0.5 s", 0.5, False),  # too short to tell
        ("batch 64", 64, False),
        ("a loss of 2.303", 2.3026, True),
    ],
)
def test_a_line_that_answers_a_question_is_withheld(line, expected, kept_back):
    found = withheld.without_answers(f"before\n{line}\nafter", [expected])
    assert found == f"before\n{withheld.ANSWERED if kept_back else line}\nafter"


def test_expected_numbers_are_those_that_the_lesson_does_not_state(course):
    folder = course / "autograder" / "rubrics" / "expected"
    folder.mkdir(parents=True)
    (folder / "01.yaml").write_text("a: 3.25\nb: no\nc: dense\nd: 820\ne: 4\nf: yes\n")
    for text, numbers in (("4 nodes\nof 32", [3.25, 820]), ("it is\n820 MB", [3.25])):
        page = new_notebook(cells=[new_markdown_cell(text)])
        assert withheld.expected_numbers(course, page, "01") == numbers
        assert withheld.expected_numbers(course, page, "02") == []
