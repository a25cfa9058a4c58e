"""Whole submissions that nobody would think of are graded without a fault in the grader itself."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.autograder.fuzz.submissions import grade_and_check
from tests.autograder.make_record import hand_in, make_record

pytestmark = pytest.mark.slow


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(min_size=40, max_size=500))
def test_any_submission_is_graded(data):
    grade_and_check(data)


# Faults that fuzzing once found, written out so that they remain when the choices change.
LINES = {
    "the lesson is a list": make_record(lesson=["02"]),
    "the key of a foreign line is a list": [*make_record(), ':::MLLOG {"key": ["epoch_stop"]}'],
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
@pytest.mark.parametrize("place", ["02_serial", "."])
def test_lines_that_once_made_the_grader_fail(tmp_path, grade, lines, place):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    (tmp_path / "class" / "ada" / place / "odd_9.out").write_text("\n".join(lines))
    result = grade(tmp_path / "class")
    assert result.exit_code in (0, 1)
    assert [row[1] for row in result.table] in (["02"], ["02", "?"], ["?", "02"])
