"""Groups that submit together: each job is run by one member and counts for all of them."""

import pytest

from tests.autograder.class_yaml import setting
from tests.autograder.classroom.test_graded_reruns import both_jobs, rerun_folder
from tests.autograder.make_record import hand_in
from tests.autograder.submissions.downloads import ROSTER

JOB = "{}|{}|COMPLETED|1772445590|1772445700|1|8|cpu=8,node=1|n1\n"
ROWS = "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
GROUPS = "group,student\nteam 1,ada\nteam 1,ben\n"
EXPORT = "submission_9001:\n  :submitters:\n" + "".join(
    f"  - :name: ''\n    :sid: ''\n    :email: {email}\n"
    for email in ("ada@example.org", "ben.meyer@example.org")
)


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


@pytest.fixture(params=["a folder called after the group", "Gradescope"])
def together(request, tmp_path, grade):
    """Return a function that grades a joint submission of ada and ben and gives each one's row."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "groups.csv").write_text(GROUPS)
    export = request.param == "Gradescope"
    name = "submission_9001" if export else "Team 1"
    hand_in(tmp_path / "class" / name / "02_serial")
    if export:
        (tmp_path / "class/submission_metadata.yml").write_text(EXPORT)
    groups = () if export else ("--groups", tmp_path / "groups.csv")

    def command(*more, roster=ROSTER):
        (tmp_path / "roster.csv").write_text(roster)
        words = ("--roster", tmp_path / "roster.csv", *groups, *more)
        result = grade(tmp_path / "class", *words, platform="gradescope" if export else "folders")
        rows = {line[0]: line[4:] for line in result.table}
        return {name: rows[name] for name in ("ada", "ben")}

    command.folder = "ada+ben" if export else name
    return command


# Accounts of the two jobs, the tier, and whether a person is asked to look.
ACCOUNTS = {
    "one member's jobs": (("al1", "al1"), "confirmed", False),
    "the other's": (("bm2", "bm2"), "confirmed", False),
    "a job of each": (("al1", "bm2"), "confirmed", False),
    "a stranger's": (("al1", "eve"), "self-consistent", True),
}


@pytest.mark.parametrize(("users", "tier", "look"), ACCOUNTS.values(), ids=ACCOUNTS)
def test_a_job_is_of_any_member(tmp_path, together, users, tier, look):
    jobs = [JOB.format(number, user) for number, user in zip((1234, 1235), users, strict=True)]
    (tmp_path / "sacct.txt").write_text(ROWS + "".join(jobs))
    for told, *looks in together(*setting("accounting", tmp_path / "sacct.txt")).values():
        assert told == tier
        assert ("belongs to another account" in str(looks)) == look


@pytest.mark.parametrize("of", ["ada", "ben", "the group"])
def test_a_rerun_of_one_is_of_all(tmp_path, together, of):
    student = together.folder if of == "the group" else of
    before = together()
    assert [told for told, *_ in before.values()] == ["self-consistent"] * 2
    reruns = rerun_folder(tmp_path / "reruns", student, "02", both_jobs())
    found = together(*setting("reruns", reruns))
    assert [told for told, *_ in found.values()] == ["reproduced"] * 2
