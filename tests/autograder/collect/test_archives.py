"""Archives: in every usual place, malicious, too large or damaged. The rest is still graded."""

import os
import stat
import tarfile
import zipfile

import pytest

from autograder.collect import download
from tests.autograder.make_record import hand_in
from tests.autograder.submissions.packages import (
    files_of_a_lesson,
    first_step,
    line_of,
    member,
    tar_of,
    zip_of,
)


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


@pytest.mark.parametrize("name", ["ada.zip", "ada.tar.gz", "ada/work.zip", "ada/02_serial/all.tgz"])
def test_archives_in_every_usual_place(tmp_path, grade, name):
    make = zip_of if name.endswith("zip") else tar_of
    make(tmp_path / "class" / name, files_of_a_lesson())
    assert line_of(grade(tmp_path / "class"), "ada")[2] == "10/10"


def link_in_zip(name: str, target: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


EVIL = {
    "climbs out": ({"../../evil.out": b"x"}, "leaves the folder"),
    "absolute": ({"/tmp/evil.out": b"x"}, "leaves the folder"),
    "windows": ({"C:\\evil.out": b"x"}, "leaves the folder"),
    "backslashes": ({"..\\..\\evil.out": b"x"}, "leaves the folder"),
    "long name": ({"a" * 300 + ".out": b"x"}, "File name too long"),
    "link": ({link_in_zip("evil.out", "/etc/passwd"): b"/etc/passwd"}, "a link or device"),
    "archive within": ({"02/inner.zip": b"PK"}, "eve.zip/02/inner.zip"),
}


@pytest.mark.parametrize(("files", "words"), EVIL.values(), ids=list(EVIL))
def test_evil_zips(tmp_path, grade, files, words):
    path = tmp_path / "class" / "eve.zip"
    zip_of(path, files_of_a_lesson())
    with zipfile.ZipFile(path, "a") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    hand_in(tmp_path / "class" / "ada" / "02")
    ours = {"grades", "collected"}
    before = {p for p in tmp_path.rglob("*") if ours.isdisjoint(p.parts)}
    result = grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == line_of(result, "eve")[2] == "10/10"
    assert {p for p in tmp_path.rglob("*") if ours.isdisjoint(p.parts)} == before
    assert not list(tmp_path.rglob("evil.out"))
    assert words in (result.folder / "students" / "eve.html").read_text()
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "odd",
    [
        member("02/evil.out", tarfile.SYMTYPE, "/etc/passwd"),
        member("02/evil.out", tarfile.LNKTYPE, "../../etc/passwd"),
        member("02/evil.out", tarfile.FIFOTYPE),
        member("02/evil.out", tarfile.CHRTYPE),
        member("../../evil.out", tarfile.REGTYPE),
    ],
    ids=["link", "hard link", "pipe", "device", "climbs out"],
)
def test_evil_tars(tmp_path, grade, odd):
    tar_of(tmp_path / "class" / "eve.tar.gz", files_of_a_lesson(), [odd])
    result = grade(tmp_path / "class")
    assert line_of(result, "eve")[2] == "10/10"
    assert result.exit_code == 1
    assert "left out" in (result.folder / "students" / "eve.html").read_text()


def test_bombs_stop_early(tmp_path, grade, monkeypatch):
    monkeypatch.setattr(download.unpack, "__defaults__", (50, 1 << 20))
    zeros = b"0" * (2 << 20)
    zip_of(tmp_path / "class" / "eve.zip", files_of_a_lesson(), **{"02/z/z.out": zeros})
    tar_of(tmp_path / "class" / "ida.tar.gz", files_of_a_lesson() | {"02/z.out": zeros})
    many = {f"02/z/{i}.out": b"" for i in range(60)}
    zip_of(tmp_path / "class" / "joe.zip", files_of_a_lesson() | many)
    result = grade(tmp_path / "class")
    for student, words in [("eve", "048,576 bytes"), ("ida", "048,576 bytes"), ("joe", "50 files")]:
        assert line_of(result, student)[2:4] == ["10/10", "graded"]
        assert words in (result.folder / "students" / f"{student}.html").read_text()


def damage(packed, name) -> None:
    data = bytearray(packed.read_bytes())
    with zipfile.ZipFile(packed) as archive:
        info = archive.getinfo(name)
    data[info.header_offset + 30 + len(info.filename) + 2] ^= 0xFF
    packed.write_bytes(data)


def test_one_damaged_file_of_an_archive_costs_itself_alone(tmp_path, grade):
    packed = tmp_path / "class" / "ada.zip"
    zip_of(packed, files_of_a_lesson() | {"a_damaged_note.txt": "word " * 400})
    damage(packed, "a_damaged_note.txt")
    result = grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == "10/10"
    page = (result.folder / "students" / "ada.html").read_text()
    assert "ada.zip/a_damaged_note.txt" in page
    assert "ada.zip/a_damaged_note.txt" in line_of(result, "ada")[5]


def test_who_handed_in_a_damaged_output_is_not_told_to_submit_the_job_first(tmp_path, grade):
    for name in ("02_torch_2.out", "answers.txt"):
        packed = tmp_path / "class" / name[3:6] / "work.zip"
        zip_of(packed, files_of_a_lesson())
        damage(packed, f"02_serial/{name}")
    inside = tmp_path / "inside.zip"
    zip_of(inside, {"02_torch_2.out": files_of_a_lesson()["02_serial/02_torch_2.out"]})
    some = files_of_a_lesson() | {"02_serial/my work.zip": inside.read_bytes()}
    del some["02_serial/02_torch_2.out"]
    zip_of(tmp_path / "class" / "ben" / "02_serial.zip", some)
    result = grade(tmp_path / "class")
    assert first_step(result, "tor").startswith("02_torch_2.out could not be read")
    assert first_step(result, "wer").startswith("answers.txt could not be read")
    assert first_step(result, "ben").startswith("my work.zip could not be read")
    page = (result.folder / "students" / "ben.html").read_text()
    assert "02_serial.zip/02_serial/my work.zip" in page


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("eve.zip", b"PK\x03\x04broken"),
        ("eve.zip", b""),
        ("eve.tar.gz", b"\x1f\x8b\x08broken"),
        ("eve.tar.xz", os.urandom(3000)),
        ("eve.tar", b""),
    ],
)
def test_broken_archives(tmp_path, grade, name, data):
    path = tmp_path / "class" / name
    path.parent.mkdir()
    path.write_bytes(data)
    hand_in(tmp_path / "class" / "ada" / "02")
    result = grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == "10/10"
    assert "grader error" not in result.stdout
    assert line_of(result, "eve")[3] == "missing"
    assert line_of(result, "eve")[5].startswith("An archive could not be read completely")
    page = (result.folder / "students" / "eve.html").read_text()
    assert f"cut off, or no {'zip' if name.endswith('zip') else 'tar'} at all" in page
    assert first_step(result, "eve").startswith(f"{name} could not be read")
    assert page.count("<dt>found</dt>") == 1  # the archive itself, but no missing run
    assert "--lesson" not in page


def test_a_folder_and_its_own_package_are_one_submission(tmp_path, grade):
    """`lessons submit` leaves a package in the folder, and the whole folder may be collected."""
    lesson = tmp_path / "class" / "eva" / "02_serial"
    zip_of(lesson / "02_serial.zip", files_of_a_lesson())
    with zipfile.ZipFile(lesson / "02_serial.zip") as package:
        package.extractall(tmp_path / "class" / "eva")
    result = grade(tmp_path / "class")
    assert line_of(result, "eva")[2:5] == ["10/10", "graded", "self-consistent"]
    assert result.exit_code == 0
