"""The drop folder: whose an attempt is and when it was made, whatever students try."""

import os
import time
from pathlib import Path

import pytest

from autograder.collect import drop
from autograder.submissions import manifest
from tests.autograder.submissions.downloads import output, work

ADA, EVE = 60_001, 60_002  # accounts; only root can give files to them
LOGINS = {ADA: "al1", EVE: "ev9", os.getuid(): "al1"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Make a drop folder, and a roster on which only ada has the account al1."""
    monkeypatch.setattr(drop, "login_of", LOGINS.__getitem__)
    (tmp_path / "roster.csv").write_text("student,login\nada,al1\neve,ev9\nev9,x1\n")
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop").chmod(drop.MODE)
    return tmp_path / "drop"


@pytest.fixture
def rows(place, collect):
    """Return a function that collects the drop folder, and returns the manifest's rows."""

    def command(*words):
        result = collect(place, "--roster", place.parent / "roster.csv", *words, platform="drop")
        assert result.exit_code in (0, 1), result.output
        return manifest.read(result.folder / manifest.NAME)

    return command


def attempt(folder: Path, owner: int | None = None) -> Path:
    folder.mkdir(mode=0o750)
    for name, data in work("ada").items():
        (folder / name).write_bytes(data)
    for path in (folder, *folder.iterdir()) if owner else ():
        os.chown(path, owner, -1)
    return folder


def test_the_change_time_counts_and_not_the_modification_time(place, rows):
    made = attempt(place / "any name")
    for path in (*made.iterdir(), made):
        os.utime(path, (0, 0))
    seconds = max(path.stat().st_ctime for path in (made, *made.iterdir()))
    row = rows()["ada/01"]
    assert abs(drop.datetime.fromisoformat(row.submitted).timestamp() - seconds) < 0.001
    assert (row.students, row.doubts) == ("ada", "")


@pytest.mark.parametrize("late", ["the folder", "a file in it"])
def test_what_is_moved_in_later_is_late(tmp_path, place, rows, late):
    made = attempt(tmp_path / "prepared")
    moved, target = (made, place / "x") if late == "the folder" else (made / "sub.out", place / "x")
    if late == "a file in it":
        (tmp_path / "sub.out").write_bytes(output("ada"))
        made = made.rename(place / "x")
        moved, target = tmp_path / "sub.out", place / "x/sub.out"
    time.sleep(0.05)
    before = time.time()
    moved.rename(target)
    submitted = drop.datetime.fromisoformat(rows()["ada/01"].submitted).timestamp()
    assert submitted >= before - 0.02  # a file system's clock has ticks


def test_each_folder_is_an_attempt_and_unfinished_ones_do_not_count(place, rows):
    attempt(place / "a")
    time.sleep(0.02)
    (attempt(place / "b") / "answers.txt").write_text("predict_shuffled = no\n")
    attempt(place / ".unfinished")
    assert "latest counts" in rows()["ada/01"].doubts


def test_no_link_is_followed(tmp_path, place, rows):
    attempt(tmp_path / "home")
    made = attempt(place / "x")
    (made / "linked.out").symlink_to(tmp_path / "home/01_numpy_1234.out")
    (place / "y").symlink_to(tmp_path / "home")
    assert "linked.out: a link" in rows()["ada/01"].doubts
    assert rows().keys() == {"ada/01"}


@pytest.mark.root
@pytest.mark.parametrize("trick", ["name", "hard link", "hard link in the drop", "open folder"])
def test_nobody_submits_as_somebody_else(tmp_path, place, rows, collect, trick):
    mine = attempt(tmp_path / "home", ADA)
    if trick == "name":
        attempt(place / "al1", EVE)
    elif trick == "hard link":
        os.link(mine / "01_numpy_1234.out", attempt(place / "x", EVE) / "other_5678.out")
    elif trick == "hard link in the drop":
        os.link(mine / "01_numpy_1234.out", place / "01_numpy_1234.out")
    else:
        mine.chmod(0o777)  # a folder that anybody can move
        mine.rename(place / "x")
    found = rows()
    assert not list((tmp_path / "collected").glob("ada/*/*"))
    assert not list((tmp_path / "collected").glob("eve/*/other_5678.out"))
    assert ("eve/01" in found) == (trick in ("name", "hard link"))


@pytest.mark.root
def test_an_account_is_no_students_name(place, rows):
    """The account ev9 is eve's, although another student is called ev9."""
    attempt(place / "x", EVE)
    assert rows().keys() == {"eve/01"}


@pytest.mark.parametrize("mode", [0o3777, 0o3775, 0o2773, 0o1773, 0o777])
def test_a_looser_folder_is_refused(tmp_path, place, collect, mode):
    attempt(place / "x")
    place.chmod(mode)
    done = collect(place, "--roster", tmp_path / "roster.csv", platform="drop")
    assert done.exit_code == 2
    assert "chmod 3773" in done.output
    place.chmod(drop.MODE & ~0o2)  # closed: nobody can submit any longer
    assert collect(place, "--roster", tmp_path / "roster.csv", platform="drop").exit_code == 0


def test_it_needs_the_accounts_of_the_students(tmp_path, place, collect):
    attempt(place / "x")
    (tmp_path / "roster.csv").write_text("student,name\nal1,Ada\n")
    for words in ((), ("--roster", tmp_path / "roster.csv")):
        done = collect(place, *words, platform="drop")
        assert done.exit_code == 2
        assert "`login`" in done.output
