"""Two graders, one folder of grades: the second gets one sentence."""

import pytest

from autograder.commands import grade as grading
from tests.autograder.make_record import hand_in


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(grading, "WAIT_S", 0.2)


def test_the_second_grader_says_one_sentence(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    with grading.locked(tmp_path / "grades"):
        second = grade(tmp_path / "class")
    assert second.exit_code == 2
    assert second.stderr.count("\n") == 1
    assert "another grader is writing into" in second.stderr
    assert not (tmp_path / "grades" / "grades.csv").exists()
    assert grade(tmp_path / "class").table[0][2] == "10/10"
