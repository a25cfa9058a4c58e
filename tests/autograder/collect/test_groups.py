"""Test submissions by groups of students."""

import pytest

from autograder.codes import FindingCode
from tests.autograder.submissions.downloads import FIRST, KEPT, ROSTER, SECOND, below, write


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


@pytest.fixture
def team(tmp_path, grade):
    """Return a function that grades a class in which ada and ben work together."""
    (tmp_path / "roster.csv").write_text(ROSTER)

    def command(files, groups="group,student\nteam 1,Ada Lovelace\nteam 1,ben\n", *more):
        (tmp_path / "groups.csv").write_text(groups)
        words = ("--roster", tmp_path / "roster.csv", "--groups", tmp_path / "groups.csv")
        result = grade(write(tmp_path, "class", files), *words, "--profile", "smoke", *more)
        result.rows = {(line[0], line[1]): line[2:] for line in result.table}
        return result

    return command


def test_one_hand_in_counts_for_the_group(tmp_path, team):
    result = team({**below("ada", SECOND), **below("zoe", FIRST)})
    assert result.rows["ben", "01"][0] == result.rows["ada", "01"][0] == "8.25/10"
    assert result.rows["kim", "01"][1] == "missing"
    by_ada = FindingCode.BY_PARTNER.heading.format(name="ada")
    assert by_ada in (result.folder / "students/ben.html").read_text()
    assert by_ada not in (result.folder / "students/ada.html").read_text()


def test_who_handed_in_keeps_the_own_hand_in(team):
    lesson = (KEPT / "06/right.out.txt").read_bytes()
    files = {**below("ada", SECOND), **below("ben", FIRST), "ben/six/06_7.out": lesson}
    result = team(files)
    assert result.rows["ben", "01"][0] == "5.25/10"
    assert result.rows["ada", "01"][0] == "8.25/10"
    assert result.rows["ada", "06"][0] == result.rows["ben", "06"][0] != "0/10"


# Ben's unreadable file, and the lesson and the words of the finding about it.
UNREAD = {
    "an archive that is not read": ("ben/06_parallel.rar", "06", "06_parallel.rar"),
    "a damaged zip": ("ben/06_parallel.zip", "06", "06_parallel.zip"),
    "answers that are no text": ("ben/06_parallel/answers.docx", "06", "answers.docx"),
}


@pytest.mark.parametrize(("name", "lesson", "words"), UNREAD.values(), ids=UNREAD)
@pytest.mark.parametrize("own", [below("ben/01_learning", SECOND), {}], ids=["own", "ada's"])
def test_what_cannot_be_read_is_not_lost_in_a_group(tmp_path, team, name, lesson, words, own):
    result = team({**below("ada", SECOND), **own, name: b"no such thing"})
    assert result.rows["ben", "01"][0] == "8.25/10"
    assert result.rows["ben", lesson][1] == "missing"
    assert words in (result.folder / "students/ben.html").read_text()
    assert ("ada", lesson) not in result.rows or result.rows["ada", lesson][1] == "missing"


def test_partners_are_no_copies_of_each_other(tmp_path, team):
    files = {**below("ada", SECOND), **below("ben", SECOND), **below("zoe", SECOND)}
    looks = {name: line[-1] for (name, _), line in team(files).rows.items()}
    assert "submitted by zoe (" in looks["ada"]
    assert "submitted by zoe (" in looks["ben"]
    assert "submitted by ada, ben (" in looks["zoe"]
    groups = (tmp_path / "groups.csv").read_text()
    (tmp_path / "class/zoe/job_2.out").unlink()
    assert "submitted by" not in team(below("zoe", FIRST), groups).rows["ada", "01"][-1]


def test_a_group_for_one_lesson_alone(team):
    groups = "group,student,lesson\nx,ada,6\nx,ben,06\ny,ben,01\ny,zoe,01_learning\n"
    rows = team(below("ada", SECOND), groups).rows
    assert rows["ben", "01"][1] == "missing"
    assert (
        team({**below("ada", SECOND), **below("zoe", FIRST)}, groups)
        .rows["ben", "01"][0]
        .startswith("5")
    )


def test_a_folder_called_after_the_group_is_of_all_its_members(team):
    result = team({**below("Team 1", SECOND), **below("zoe", FIRST)})
    assert result.rows["ada", "01"][0] == result.rows["ben", "01"][0] == "8.25/10"
    assert "submitted by" not in result.rows["ada", "01"][-1]
    assert {name for name, _ in result.rows} == {"ada", "ben", "kim", "zoe"}


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("group,student\na,ada\nb,Ada Lovelace\n", "groups.csv:3: ada is in two groups, first in"),
        ("group,student\na,nobody\n", "groups.csv:2: 'nobody' is not on the roster"),
        ("group,student,lesson\na,ada,99\n", "groups.csv:2: there is no rubric for lesson '99'"),
        ("team,student\na,ada\n", "unknown column `team`"),
        ("group,student,lesson\na,ada,\nb,ada,2\n", "groups.csv:3: ada is in two groups"),
    ],
)
def test_a_slip_in_the_groups_stops_the_grading(team, groups, words):
    result = team(below("ada", SECOND), groups)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
