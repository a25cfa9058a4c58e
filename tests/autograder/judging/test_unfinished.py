"""A run on several ranks that did not finish is told, although a smaller one counts instead."""

import pytest

from tests.autograder.make_record import make_record, write_lines

ONE = make_record(lesson="08", source="keras-sharded", run="1" * 8)
TOLD = "A larger run of `own-files` did not finish, so a smaller one counts"
STALLED = (
    "One or more tensors were submitted by subset of ranks and are waiting for remainder of ranks"
)


@pytest.mark.parametrize(
    ("size", "finished", "told"), [(2, False, True), (2, True, False), (1, False, False)]
)
def test_only_a_larger_run_that_ended_badly_is_told(size, finished, told, tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "08"
    folder.mkdir(parents=True)
    two = make_record(
        lesson="08", source="keras-sharded", run="2" * 8, size=size, finished=finished
    )
    write_lines(folder / "08_1.out", ONE)
    write_lines(folder / "08_2.out", two)
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert (TOLD in page) is told


def test_the_reason_stands_in_the_error_file(tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "08"
    folder.mkdir(parents=True)
    two = make_record(lesson="08", source="keras-sharded", run="2" * 8, size=2, finished=False)
    write_lines(folder / "08_1.out", ONE)
    write_lines(folder / "08_2.out", two)
    write_lines(folder / "08_2.err", [STALLED])
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert "ranks waited for others that did not come" in page
