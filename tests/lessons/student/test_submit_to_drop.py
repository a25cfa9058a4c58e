"""Submit into the drop folder of a class."""

import errno
import hashlib
import os
import stat

import pytest


@pytest.fixture
def drop(tmp_path, monkeypatch):
    place = tmp_path / "drop"
    place.mkdir()
    place.chmod(0o3773)
    monkeypatch.setattr(os, "getegid", lambda: place.stat().st_gid + 1)
    monkeypatch.setattr(os, "getgroups", list)
    monkeypatch.setenv("COURSE_DROP", str(place))
    return place


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_teachers_can_read_an_attempt_and_nobody_else(folder, lessons_command, drop, umask):
    before = os.umask(umask)
    try:
        done = lessons_command("submit", "02")
    finally:
        assert os.umask(before) == umask
    [attempt] = drop.iterdir()
    [packed] = attempt.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (attempt, packed)] == [0o2750, 0o640]
    assert done.exit_code == 0
    for part in (str(packed), hashlib.sha256(packed.read_bytes()).hexdigest()):
        assert part in done.output


def test_every_submission_is_an_attempt_of_its_own(folder, lessons_command, drop):
    for _ in range(2):
        assert lessons_command("submit", "02").exit_code == 0
    assert len([*drop.iterdir()]) == 2


@pytest.mark.parametrize(("number", "word"), [(errno.EDQUOT, "quota"), (errno.EIO, "instructor")])
def test_a_full_folder_loses_nothing(folder, lessons_command, drop, monkeypatch, number, word):
    def fsync(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    done = lessons_command("submit", "02")
    assert done.exit_code == 1
    assert word in done.output
    assert not [*drop.iterdir()]
    assert (folder.parent / "02_serial.zip").is_file()


@pytest.mark.parametrize(("name", "wrap"), [("getegid", int), ("getgroups", lambda gid: [gid])])
def test_a_folder_that_the_students_group_can_read_gets_nothing(
    folder, lessons_command, drop, monkeypatch, name, wrap
):
    monkeypatch.setattr(os, name, lambda: wrap(drop.stat().st_gid))
    done = lessons_command("submit", "02")
    assert done.exit_code == 1
    assert "group" in done.output
    assert not [*drop.iterdir()]
    assert (folder.parent / "02_serial.zip").is_file()


def test_an_open_folder_gets_nothing(folder, lessons_command, drop):
    drop.chmod(0o777)
    assert lessons_command("submit", "02").exit_code == 2
    assert not [*drop.iterdir()]
