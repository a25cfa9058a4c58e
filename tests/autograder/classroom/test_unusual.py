"""Tests of the class page's remarks on what hardly anybody else does."""

import pytest

from autograder.classroom.whole_class import TOOLKIT
from autograder.text_hash import folder_hash
from tests.autograder.make_record import hand_in, make_record

OF_THE_CLASS, ANOTHER = "a" * 16, "b" * 16
LOOK = "ran with a toolkit that no one else used"
HERE = folder_hash(TOOLKIT)


@pytest.mark.parametrize(
    ("toolkits", "named"),
    [
        ([OF_THE_CLASS] * 5 + [ANOTHER], ["s5"]),
        ([OF_THE_CLASS] * 5 + [ANOTHER] * 2, []),  # an edition of its own
        ([OF_THE_CLASS] * 5 + [HERE], []),  # the version installed with the grader
        ([OF_THE_CLASS] * 4 + [ANOTHER], []),  # too few to say what is usual
        ([OF_THE_CLASS] * 5 + [None], []),  # a record without that line
    ],
)
def test_a_student_is_named_who_alone_has_a_toolkit(tmp_path, grade, toolkits, named):
    for number, toolkit in enumerate(toolkits):
        program = toolkit and {"main": "train.py", "toolkit": toolkit, "files": {}}
        lines = make_record(run=f"0000000{number}", job_id=str(number), program=program)
        torch = make_record(source="torch", run=f"1000000{number}", job_id=f"9{number}")
        hand_in(tmp_path / "class" / f"s{number}" / "02", lines, torch)
    rows = grade(tmp_path / "class").table
    assert [row[0] for row in rows if LOOK in row[-1]] == named
    assert all(row[2] == rows[0][2] for row in rows)
