"""Nobody is lost by what a class's folder is called, nor by what a student's own folder holds."""

from contextlib import ExitStack

import pytest

from autograder.settings.known_as import who_is
from autograder.settings.roster import read_roster
from autograder.submissions.claims import nobody
from autograder.submissions.downloads import plain_yaml, read_export
from autograder.submissions.students import NoSubmissionsError, find_students
from tests.autograder.submissions.downloads import (
    ROSTER,
    Files,
    below,
    canvas,
    exchange,
    gradescope,
    moodle,
    repositories,
    work,
    write,
    zipped,
)


def lesson(student: str) -> Files:
    return below("02_serial", work(student))


def export(*lines: str) -> Files:
    """What a student may put into their own folder to be taken for others."""
    return {"submission_metadata.yml": "\n".join(lines).encode()}


def clones(start: str) -> Files:
    return {name: data for name, data in repositories(start).items() if "/.git/" not in name}


PACKED = {f"{one}.zip": zipped(one) for one in ("ada", "ben")}
TABLES = {"scores.csv": b"username\n", "grades.xlsx": b"PK"}
CARL = below("carl", lesson("zoe"))
OF_08 = below("08", lesson("ben"))
CLAIMS_BEN = export("02_serial:", "  :submitters:", "  - :name: Ben Meyer")
FORGED = below("08_1_assignsubmission_file_", lesson("zoe"))

# What lies below a folder of some name, and the students without a roster.
CLASSES: dict[str, tuple[str, Files, set[str]]] = {
    # `X-submissions` is GitHub Classroom's name, and anybody's
    "archives": ("hpc-submissions", PACKED | TABLES, {"ada", "ben"}),
    "archives and a folder": ("hpc-submissions", PACKED | CARL, {"ada", "ben", "carl"}),
    "folders": ("hpc-submissions", below("x-ada", lesson("ada")) | CARL, {"x-ada", "carl"}),
    "clones and others": (
        "hpc-submissions", clones("hpc") | TABLES | CARL | {"dan.zip": zipped("ada")},
        {"ada-l", "benmey", "zlw", "carl", "dan"}),
    "cloned into folders of any name": (
        "hpc-submissions", below("ada", work("ada") | {".git/HEAD": b"ref"}) | CARL,
        {"ada", "carl"}),
    "of one assignment": ("term", below("01-learning-submissions", clones("01-learning")),
                          {"ada-l", "benmey", "zlw"}),
    "of a class, one below": (
        "term", below("hpc-submissions", below("ada", lesson("ada")) | CARL), {"ada", "carl"}),
    "students' folders are called so": (
        "class", below("ada-submissions", lesson("ada")) | below("ben-submissions", lesson("ben")),
        {"ada-submissions", "ben-submissions"}),
    "one student's own": ("my-submissions", lesson("ada"), {"my-submissions"}),
    # a number may be a student or an assignment; what lies in a student's own says nothing
    "a student's folder is called as Moodle does": (
        "class", below("07", FORGED | lesson("ada")) | OF_08, {"07", "08"}),
    "and all that lies in it": ("class", below("07", FORGED) | OF_08, {"07", "08"}),
    "beside archives": ("class", below("07", FORGED) | {"08.zip": zipped("ben")}, {"07", "08"}),
    "a student's own export": (
        "class", below("07", CLAIMS_BEN | lesson("ada")) | OF_08, {"07", "08"}),
    "a student's own exchange folder": (
        "class", below("07 Ada", exchange() | lesson("ada")) | below("08 Ben", lesson("ben")),
        {"07 Ada", "08 Ben"}),
    "a clone called after a lesson": (
        "clones", repositories("01-learning") | below("01-learning-ada-l", CLAIMS_BEN),
        {"01-learning-ada-l", "01-learning-benmey", "01-learning-zlw"}),
    "a login that ends so": (
        "01-learning-submissions",
        clones("01-learning") | below("01-learning-x-submissions", FORGED),
        {"ada-l", "benmey", "zlw", "x-submissions"}),
    "assignments": (
        "term", below("01", moodle()) | below("02", gradescope()) | below("03", {"a.py": b""})
        | {"01.zip": b"PK"},
        {"Ada Lovelace", "Ben Meyer", "Zoë Lee-Wei", "01", "03", "ada@example.org",
         "ben.meyer@example.org", "zoe@example.org"}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "files", "students"), CLASSES.values(), ids=list(CLASSES))
def test_who_is_found(tmp_path, name, files, students):
    found = find_students([write(tmp_path, name, files)])
    assert {student.name for student in found} == students


def test_a_roster_that_does_not_know_a_number_gives_nobody_anothers_work(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    who = who_is(read_roster(tmp_path / "roster.csv"), {})
    said: list[str] = []
    files = below("07", moodle()) | below("ada", lesson("ada"))
    found = find_students([write(tmp_path, "class", files)], who=who, say=said.append)
    assert [student.name for student in found] == ["07", "ada"]
    [told] = said
    assert told.startswith("07: taken as students' own, because ada lies beside")
    (tmp_path / "class/08").mkdir()  # of nobody, and with nothing
    assert [student.name for student in find_students([tmp_path / "class"], who=who)][-1] == "ada"


def test_a_lone_number_with_a_platforms_names_in_it_is_asked_for(tmp_path):
    """No student is invented of folders that the one student there may have made."""
    place = write(tmp_path, "class", below("07", FORGED) | {"07.zip": zipped("ben")})
    with pytest.raises(NoSubmissionsError, match=r"07 may be an assignment .* or one student"):
        find_students([place])
    [one] = find_students([place / "07"], name="07")
    assert (one.name, one.places) == ("07", (place / "07",))
    [other] = find_students([place / "07"])  # the instructor says that it is an assignment
    assert other.name == "08"


def test_a_lone_number_is_no_classmates_because_its_owner_called_a_folder_so(tmp_path):
    """One name of the roster in it may be forged; of a class in it the instructor is told."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    who = who_is(read_roster(tmp_path / "roster.csv"), {})
    forged = below("Ben Meyer_1_assignsubmission_file_", work("zoe"))
    place = write(tmp_path, "class", below("07", forged))
    with pytest.raises(NoSubmissionsError, match=r"07 may be .* that knows two students in it"):
        find_students([place], who=who)
    write(tmp_path, "class/07", moodle())
    said: list[str] = []
    found = find_students([place], who=who, say=said.append)
    assert [one.name for one in found] == ["ada", "ben", "zoe"]
    [told] = said
    assert told.startswith("07: taken as an assignment's folder, because hand-ins of ada, ben lie")


TWO = [{name: data for name, data in moodle().items() if "Ben" not in name}, moodle()]
ZIPS: dict[str, tuple[Files, set[str]]] = {
    "assignments of Moodle": (
        below("01", TWO[0]) | below("02", TWO[1]), {"Ada Lovelace", "Ben Meyer", "Zoë Lee-Wei"}),
    "students' zips": (PACKED | TABLES, {"ada", "ben"}),
    "students' zips in a folder": (below("hpc", PACKED), {"ada", "ben"}),
    "Canvas's files and the instructor's": (
        canvas() | {"grades.txt": b"x", "roster.csv": b"x"},
        {"lovelaceada", "meyerben", "leeweizo"}),
    "clones, their folder packed": (
        below("01-learning-submissions", clones("01-learning")), {"ada-l", "benmey", "zlw"}),
    "students without lessons' folders": (
        below("ada", work("ada")) | below("ben/hw01", work("ben")) | below("z", work("zoe")),
        {"ada", "ben", "z"}),
    "one student's attempts": (
        below("keras", {"job_1.out": b"x"}) | below("torch", {"job_2.out": b"x"})
        | {"answers.txt": b"x"}, {"class"}),
    "one student's lessons": (below("Lesson 1", work("ada")) | below("2", work("ben")), {"class"}),
    "one student's lessons, each packed": (
        {"01.zip": zipped("ada"), "02_serial.zip": zipped("ada")}, {"class"}),
    "one student's outputs, called as Canvas does": (
        {"keras_1_2_job.out": b"x", "torch_2_3_job.out": b"x", "answers.txt": b"x"}, {"class"}),
}  # fmt: skip


def test_of_a_class_in_one_zip_checkpoints_are_not_unpacked(tmp_path):
    files = below("ada", lesson("ada")) | CARL | {"ada/02_serial/model.pt": b"x" * 1000}
    with ExitStack() as unpacked:
        ada, _ = find_students([write(tmp_path, "class.zip", files)], unpacked=unpacked)
        sizes = {path.name: path.stat().st_size for path in ada.places[0].rglob("*.*")}
    assert sizes.pop("model.pt") == sizes.pop("lesson.ipynb") == 0  # there, to be named
    assert sizes == {name: len(data) for name, data in work("ada").items() if name in sizes}
    assert len(sizes) == 2


@pytest.mark.parametrize(("files", "students"), ZIPS.values(), ids=list(ZIPS))
def test_who_is_found_in_one_zip(tmp_path, files, students):
    with ExitStack() as unpacked:
        found = find_students([write(tmp_path, "class.zip", files)], unpacked=unpacked)
    assert {student.name for student in found} == students


def test_a_zip_called_as_clones_are_has_them_in_it(tmp_path):
    files = clones("01-learning")
    with ExitStack() as unpacked:
        place = write(tmp_path, "01-learning-submissions.zip", files)
        found = find_students([place], unpacked=unpacked)
    assert {student.name for student in found} == {"ada-l", "benmey", "zlw"}


@pytest.mark.parametrize("known", [True, False])
def test_a_folder_with_a_class_in_it_is_no_student_in_silence(tmp_path, known):
    """As after unpacking into a folder of the same name. A student may have made it, too."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    who = who_is(read_roster(tmp_path / "roster.csv"), {}) if known else nobody
    students = below("ada", lesson("ada")) | below("ben", lesson("ben"))
    place = write(tmp_path, "class", below("group A", students))
    said: list[str] = []
    [one] = find_students([place], who=who, say=said.append)
    [told] = said
    assert one.name == "group A"
    whose = "ada, ben" if known else "several students"
    assert told.startswith(f"group A: taken as one student's own, though hand-ins of {whose} seem")
    assert [two.name for two in find_students([place / "group A"], who=who)] == ["ada", "ben"]


@pytest.mark.parametrize(
    ("folder", "clones_in_it", "students"),
    [
        ("01-learning", ["01-learning-foo-ada-l", "01-learning-benmey"], ["ben", "foo-ada-l"]),
        ("hpc", ["hpc-01-learning-ada-l", "hpc-01-learning-benmey"], ["ada", "ben"]),
    ],
)
def test_a_login_that_ends_as_another_one(tmp_path, folder, clones_in_it, students):
    """foo-ada-l is not ada-l; but a folder may be called by the beginning of the slug alone."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    who = who_is(read_roster(tmp_path / "roster.csv"), {})
    files = {name: data for one in clones_in_it for name, data in below(one, work("ada")).items()}
    found = find_students([write(tmp_path, f"{folder}-submissions", files)], who=who)
    assert [one.name for one in found] == students


@pytest.mark.parametrize("wrapped", ["", "hpc/"])
def test_a_zip_of_a_class_is_one_whatever_some_handed_in(tmp_path, wrapped):
    """Not one student, because one of many has no lesson's folder."""
    odd = {"gil/lesson.ipynb": b"{}", "fred.zip": b"", "README": b"x", "notes.txt": b"x"}
    files = CARL | below("ada", lesson("ada")) | below("ben", lesson("ben")) | odd
    place = write(tmp_path, "class.zip", {f"{wrapped}{name}": data for name, data in files.items()})
    said: list[str] = []
    with ExitStack() as unpacked:
        found = find_students([place], unpacked=unpacked, say=said.append)
    assert [one.name for one in found] == ["ada", "ben", "carl", "fred", "gil"]
    assert said == ["In no student's folder, and so nobody's: notes.txt"]


# --- an export's metadata ---------------------------------------------------------------------

NINES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
BOMB = ["a0: &a0 [x, x]", *NINES]


@pytest.mark.parametrize(
    "lines",
    [
        [*BOMB, "submission_1:", "  :submitters:", "  - :name: *a9"],
        [*BOMB, "submission_1:", "  :submitters: *a9"],
        ["m0: &m0 {x: y}", *(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}"
                             for n in range(1, 10)), "submission_1: *m9"],
        ["submission_1:", "  :submitters:", "  - :name: [Ada, Ben]", "    :email: {a: b}"],
        ["submission_1:", "  :submitters:", f"  - :name: {'x' * 5000}"],
        ["submission_1: " + "[" * 100_000],
        ["submission_1: " + "- " * 100_000],
        ["[" * 3000 + "]" * 3000],
    ],
    ids=["aliases in a name", "aliases as a list", "merged", "no words", "long", "deep",
         "deep dashes", "deep and closed"],
)  # fmt: skip
def test_metadata_that_asks_for_too_much_names_nobody(tmp_path, lines):
    """Not timed: aliases taken at their word would keep this test from ending."""
    files = below("submission_1", work("ada")) | export(*lines)
    [student] = find_students([write(tmp_path, "export", files)], who=nobody)
    assert student.name in ("submission_1", "submission")


def test_metadata_as_ruby_writes_it(tmp_path):
    """The same object twice is an alias there; what is deeper than the names does not matter."""
    path = tmp_path / "submission_metadata.yml"
    path.write_text(
        "---\nsubmission_1:\n  :submitters: &1\n  - :name: Ada\n    :sid: 0012\n    :email: ~\n"
        "  :created_at: &2 2026-03-01 20:00:00.123456789 Z\n  :results: {a: {b: {c: {d: e}}}}\n"
        "  :history:\n  - :created_at: *2\n    :submitters: *1\n"
        "submission_2:\n  :created_at: 2026-02-31 20:00:00 Z\n  :submitters: []\n"
    )
    told = read_export(path)
    [claim], time = told["submission_1"]
    assert (claim.spelt, claim.name, dict(claim.ids)["sis_id"]) == ("Ada", "Ada", "0012")
    assert time == "2026-03-01 20:00:00.123456+00:00"
    assert told["submission_2"] == ((), None)


def test_levels_of_yaml_that_are_kept():
    kept = plain_yaml(b"a: {b: [{c: [{d: e}], f: g}]}\n")
    assert kept == (
        True, ["a", (True, ["b", (False, [(True, ["c", None, "f", "g"])])])]
    )  # fmt: skip
