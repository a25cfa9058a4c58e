"""The lines of an output that a page shows beside a measure."""

import pytest

from autograder.records import Where
from autograder.report.student.page import student_page
from autograder.submissions import texts as quoted
from autograder.submissions.texts import quoted_lines
from autograder.verdict import Check, Grade, QuotedLine


@pytest.fixture
def output(tmp_path):
    path = tmp_path / "a.out"
    path.write_bytes(b"one\ntwo\r\nbar 1\rbar 2\n<four>\n" + b"x" * 1000 + b"\nsix\n\xff\n")
    return path


def quote(path, *lines) -> dict[int, str]:
    return {one.line: one.text for one in quoted_lines({path: "a.out"}, places(*lines))}


def places(*lines):
    return [Where("a.out", line) for line in lines]


def test_a_line_comes_with_its_neighbours(output):
    assert quote(output, 3) == {2: "two", 3: "bar 2", 4: "<four>"}
    assert list(quote(output, 1, 7)) == [1, 2, 6, 7]


def test_a_line_is_quoted_once_and_cut(output):
    found = quote(output, 4, 5)
    assert sorted(found) == [3, 4, 5, 6]
    assert len(found[5]) == quoted.LONGEST
    assert len(quote(output, 6)[5]) == quoted.LONGEST_AROUND


@pytest.mark.parametrize("line", [0, 8, 10**9])
def test_a_line_that_is_not_there_is_not_quoted(output, line):
    assert not [one for one in quote(output, line) if one == line]


def test_the_page_marks_the_line_and_escapes_it():
    lines = (QuotedLine("a.out", 3, "before"), QuotedLine("a.out", 4, "<b>"))

    def page(line: int) -> str:
        check = Check("a", "A", 1, 0, "failed", "", "1", tuple(places(line)))
        grade = Grade("ada", "02", "T", "smoke", "graded", 0, 1, checks=(check,), quoted=lines)
        return student_page("ada", [grade])

    assert page(4).count('class="meant"') == 1
    assert "&lt;b&gt;" in page(4)
    assert "the line of the output" in page(4)
    assert "of the output" not in page(9)
