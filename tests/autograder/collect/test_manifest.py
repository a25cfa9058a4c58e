"""manifest.csv: an instructor's edits take precedence and survive collecting again."""

import csv
import re
import shutil
from unicodedata import normalize

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.codes import FindingCode
from autograder.submissions import doubts
from autograder.submissions.doubts import note_of
from autograder.submissions.manifest import COLUMNS, NAME, Row, doubts_in, merged, written
from tests.autograder.class_yaml import late_rules
from tests.autograder.make_record import hand_in
from tests.autograder.submissions.downloads import KEPT, below, canvas, packed, write

GOOD, BAD = ((KEPT / "01" / f"{name}.out.txt").read_bytes() for name in ("right", "no-biases"))


def cells(folder):
    with (folder / NAME).open(newline="", encoding="utf-8") as file:
        return {row["folder"]: row for row in csv.DictReader(file)}


def edit(folder, changes):
    rows = cells(folder)
    for place, values in changes.items():
        rows[place] |= values
    with (folder / NAME).open("w", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, COLUMNS)
        lines.writeheader()
        lines.writerows(rows.values())


def test_what_a_manifest_holds(tmp_path, collect, roster):
    done = collect(write(tmp_path, "down", canvas()), *roster, platform="canvas")
    found = cells(done.folder)
    assert list(found) == ["ada/01", "ben/01", "zoe/01"]
    assert found["ada/01"] == {
        "folder": "ada/01", "students": "ada", "group": "", "lesson": "01", "submitted": "",
        "late": "yes", "from": "canvas", "doubts": ""}  # fmt: skip
    assert sorted(path.name for path in (done.folder / "ada/01").iterdir()) == [
        "01_numpy_1234.out", "answers.txt"]  # fmt: skip
    assert "Nothing submitted by: kim" in done.stdout


def test_edits_about_a_submission_end_with_it(tmp_path, collect, roster):
    place = write(tmp_path, "down", canvas())
    folder = collect(place, *roster, platform="canvas").folder
    mine = {"lesson": "02", "submitted": "2026-03-01T20:00+01:00", "students": "kim"}
    edit(folder, {"ben/01": mine, "zoe/01": mine})
    write(tmp_path, "down", {"meyerben_102_3001_01_numpy_9.out": BAD})
    after = cells(collect(place, *roster, platform="canvas").folder)
    assert mine.items() <= after["zoe/01"].items()
    ended = {"lesson": "01", "submitted": "", "students": "kim"}
    assert ended.items() <= after["ben/01"].items()


def test_edits_stay_when_the_class_is_collected_again(tmp_path, collect, roster):
    place = write(tmp_path, "down", canvas())
    folder = collect(place, *roster, platform="canvas").folder
    changes = {
        "ada/01": {"submitted": "2026-03-01T20:00+01:00", "students": "Lovelace, Ada"},
        "ben/01": {"students": "kim"},
        "zoe/01": {"students": ""},
    }
    edit(folder, changes)
    write(tmp_path, "down", {"meyerben_102_3001_01_numpy_9.out": BAD})
    again = collect(place, *roster, platform="canvas")
    after = cells(again.folder)
    for name, values in changes.items():
        assert values.items() <= after[name].items()
    assert (folder / "ben/01/01_numpy_9.out").read_bytes() == BAD
    assert "Not graded, because the row names no student: zoe/01" in again.stdout
    assert "Not on the roster" not in again.stdout
    words = ["grade", str(folder), "--profile", "smoke", "--out", str(tmp_path / "grades")]
    assert "zoe/01" in CliRunner().invoke(main, words).stderr


def test_a_row_that_nobody_decided_on_is_something_to_look_at(tmp_path, collect, grade, roster):
    place = write(
        tmp_path, "down", below("x-ada", {"a_1.out": GOOD}) | below("ben", {"b.out": GOOD})
    )
    folder = collect(place, *roster, "--lesson", "01").folder
    edit(folder, {"ben/01": {"doubts": ""}})
    assert grade(folder, "--profile", "smoke").exit_code == 1
    edit(folder, {"x-ada/01": {"doubts": ""}})
    assert grade(folder, "--profile", "smoke").exit_code == 0


@pytest.mark.parametrize(("ran", "score"), [(True, "8.25/10"), (False, "0.25/10")])
def test_the_folder_of_a_student_who_was_unknown_is_replaced(
    tmp_path, collect, grade, points, ran, score
):
    """If only the folder that is left out has outputs, the instructor is asked to look."""
    (tmp_path / "roster.csv").write_text("student\nben\n")
    words = ("--roster", tmp_path / "roster.csv", "--lesson", "01")
    for number, (name, grows) in enumerate((("", "student,canvas_id\nben,102\n"), ("-1", ""))):
        answers = f"predict_shuffled = {['no', 'yes'][number]}".encode()
        files = {f"meyerben_102_{number}_answers{name}.txt": answers}
        if grows or ran:
            files |= {f"meyerben_102_9{number}_01_{number}.out": (BAD, GOOD)[number]}
        place = write(tmp_path, f"down {number}", files)
        done = collect(place, *words, platform="canvas")
        if grows:
            edit(done.folder, {"meyerben/01": {"students": "ben", "doubts": ""}})
            (tmp_path / "roster.csv").write_text(grows)
    assert done.rows.keys() == {"meyerben/01", "ben/01"}
    result = grade(done.folder, "--profile", "smoke")
    assert (result.exit_code, points(result)) == (not ran, {("ben", "01"): score})


def test_a_folder_that_an_instructor_made_a_student_s_own_is_not_replaced(
    tmp_path, collect, grade, roster, points
):
    files = {"ben/answers.txt": b"predict_shuffled = yes", "ben laptop/01_1.out": GOOD}
    done = collect(write(tmp_path, "down", files), *roster, "--lesson", "01")
    edit(done.folder, {"ben laptop/01": {"students": "ben", "doubts": ""}})
    result = grade(done.folder, "--profile", "smoke")
    assert (result.exit_code, points(result)["ben", "01"]) == (0, "8.25/10")


def test_work_put_into_the_class_by_hand_is_not_replaced_by_nothing(tmp_path, collect, roster):
    words = (*roster, "--lesson", "01")
    place = write(tmp_path, "down", {"meyerben_102_3001_photo.jpg": b"no work"})
    folder = collect(place, *words, platform="canvas").folder
    (folder / "ben/01/01_numpy_9.out").write_bytes(GOOD)
    again = collect(place, *words, platform="canvas")
    assert (folder / "ben/01/01_numpy_9.out").read_bytes() == GOOD
    assert [line for line in again.stdout.splitlines() if line.endswith("ben/01")]


def test_files_that_a_new_download_does_not_have_are_named(tmp_path, collect, roster):
    place = write(tmp_path, "down", canvas())
    folder = collect(place, *roster, platform="canvas").folder
    (folder / "ben/01/mailed.out").write_bytes(BAD)
    again = collect(place, *roster, platform="canvas")
    assert not (folder / "ben/01/mailed.out").exists()
    assert "ben/01/mailed.out" in again.stdout


def test_the_manifest_is_followed_when_grading(tmp_path, collect, grade, roster, points):
    folder = collect(write(tmp_path, "down", canvas()), *roster, platform="canvas").folder
    edit(folder, {"ben/01": {"students": "kim"}, "zoe/01": {"students": ""}})
    rules = late_rules(tmp_path, "due: {'01': 2026-03-01T19:00:00+00:00}\npenalty_a_day: 10%\n")
    words = ("--profile", "smoke", *rules)
    result = grade(folder, *words)
    assert points(result) == {("ada", "01"): "8.25/10", ("kim", "01"): "4.25/10"}
    assert result.table[0][-1].startswith(FindingCode.MARKED_LATE.heading)
    edit(folder, {"ada/01": {"submitted": "2026-03-01T20:00+00:00"}})
    result = grade(folder, *words)
    assert points(result)["ada", "01"] == "7.25/10"
    assert FindingCode.MARKED_LATE.heading not in result.stdout


def test_a_settled_doubt_stays_settled_and_a_new_one_is_new():
    old = Row("a", doubts="archive unopened: w.zip: cut off | left out: a: b")
    mine, new = Row("a", doubts="left out: a: b"), Row("a", doubts=f"{old.doubts} | left out: x: c")
    rows, _ = merged({"a": old}, {"a": mine}, {"a": new})
    assert rows["a"].doubts == "left out: a: b | left out: x: c"


def test_a_doubt_is_written_as_the_manifest_is_read_again():
    for name in ("Jürgen", normalize("NFD", "Jürgen")):
        cell = doubts.written([note_of(FindingCode.OWNER_UNKNOWN, "", name)])
        assert cell == "owner unknown: -: Jürgen"


MISTAKES = [
    ({"submitted": "yesterday"}, "is not a time of this century"),
    ({"late": "perhaps"}, "`late` must be yes or empty"),
    ({"doubts": "a feeling"}, "unknown doubt"),
    ({"doubts": "answered twice: a.txt: x"}, "unknown doubt"),
    ({"folder": "../ada"}, "is not a folder in the class"),
    ({"folder": "ada/99"}, "there is no folder ada/99"),
]


@pytest.mark.parametrize(("change", "words"), MISTAKES)
def test_a_slip_in_the_manifest_stops_the_grading(tmp_path, collect, grade, roster, change, words):
    folder = collect(write(tmp_path, "down", canvas()), *roster, platform="canvas").folder
    edit(folder, {"ada/01": change})
    result = grade(folder)
    assert result.exit_code == 2
    assert NAME in result.stderr
    assert words in result.stderr


def test_a_doubt_without_a_file_is_only_reported(tmp_path, collect, grade, points):
    folder = collect(write(tmp_path, "down", below("ada/01", {"a_1.out": GOOD}))).folder
    edit(folder, {"ada/01": {"doubts": "archive unopened"}})
    (folder / "ada/01/a_1.out").unlink()
    (folder / "ada/01/b_1.out").write_text("x")
    result = grade(folder, "--profile", "smoke")
    assert (result.exit_code, points(result)) == (1, {("ada", "01"): "0/10"})


def test_folders_by_hand_are_graded_beside_collected_ones(tmp_path, collect, grade, roster, points):
    folder = collect(write(tmp_path, "down", canvas()), *roster, platform="canvas").folder
    hand_in(folder / "kim" / "02_serial")
    assert {("kim", "02"), ("ada", "01")} <= points(grade(folder)).keys()


def test_collecting_again_the_same_changes_no_byte(tmp_path, collect):
    place = write(tmp_path, "down", canvas())
    folder = collect(place, platform="canvas").folder
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    collect(place, platform="canvas")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_new_submission_replaces_the_folder(tmp_path, collect):
    first = write(tmp_path, "first", below("ada/01", {"a_1.out": BAD, "old.out": b"x"}))
    second = write(tmp_path, "second", below("ada/01", {"a_1.out": GOOD}))
    folder = collect(first).folder
    collect(second)
    assert {p.name: p.read_bytes() for p in (folder / "ada/01").iterdir()} == {"a_1.out": GOOD}
    assert {path.name for path in folder.iterdir()} == {"ada", NAME, ".collected.csv"}


def test_a_submission_without_files_changes_no_facts_about_the_earlier_one(tmp_path, collect):
    first = write(tmp_path, "first", {"lovelaceada_101_7006_work.zip": packed({"a.out": GOOD})})
    nested = packed({"inner.zip": packed({"a.out": BAD})})
    second = write(tmp_path, "second", {"lovelaceada_LATE_101_7041_work-1.zip": nested})
    words = ("--lesson", "01")
    collect(first, *words, platform="canvas")
    for _ in range(2):
        done = collect(second, *words, platform="canvas")
        [row] = done.rows.values()
        assert (row.late, done.exit_code) == ("", 1)
        assert [doubt.code for doubt in doubts_in(row)] == [FindingCode.ARCHIVE_UNOPENED]
        assert (done.folder / row.folder / "a.out").read_bytes() == GOOD


def test_a_row_and_folder_deleted_by_hand_stay_deleted(tmp_path, collect, roster):
    folder = collect(write(tmp_path, "down", canvas()), *roster, platform="canvas").folder
    rows = cells(folder)
    shutil.rmtree(folder / "ben")
    shutil.rmtree(folder / "zoe")
    del rows["ben/01"], rows["zoe/01"]
    (folder / NAME).write_text(written(Row(*row.values()) for row in rows.values()))
    zoe = {name: data for name, data in canvas().items() if "_103_" in name}
    collect(write(tmp_path, "down 2", zoe), *roster, platform="canvas")
    assert sorted(cells(folder)) == ["ada/01", "zoe/01"]
    assert (folder / "zoe/01").is_dir()


def test_the_class_page_lists_work_of_nobody(tmp_path, collect, grade):
    (tmp_path / "roster.csv").write_text("student,canvas_id\nada,101\n")
    place = write(tmp_path, "down", canvas())
    folder = collect(place, "--roster", tmp_path / "roster.csv", platform="canvas").folder
    graded = grade(folder, "--profile", "smoke").folder
    lines = csv.DictReader((graded / "grades.csv").open())
    waiting = [line["look"].split()[0] for line in lines if line["status"] == "no owner"]
    assert waiting == ["leeweizo/01", "meyerben/01"]
    index = (graded / "index.html").read_text()
    unowned = index.partition('id="unowned"')[2].partition("</ul>")[0]
    assert re.findall(r"<li>(\S+)", unowned) == ["leeweizo/01", "meyerben/01"]
