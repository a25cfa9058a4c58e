"""Submissions made to break the grader: each is a finding of that student, the rest is graded."""

import io
import os
import re
import stat
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.safe_text import csv_cell, file_name, printable
from autograder.submissions import archives
from autograder.submissions.answers import as_number, parse_answers
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record, write_lines


def files_of_a_lesson() -> dict[str, bytes]:
    torch = make_record(source="torch", run="b" * 8, job_id="8", test_accuracy=0.975)
    return {
        "02_serial/02_serial_1.out": "\n".join(make_record()).encode(),
        "02_serial/02_torch_2.out": "\n".join(torch).encode(),
        "02_serial/answers.txt": "\n".join(f"{k}={v}" for k, v in RIGHT_ANSWERS.items()).encode(),
    }


def zip_of(path, files, **extra) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**files, **extra}.items():
            archive.writestr(name, data)


def tar_of(path, files, odd=()) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in odd:
            archive.addfile(info)


def member(name, kind, target="") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def line_of(result, student) -> list[str]:
    return next(line for line in result.table if line[0] == student)


def first_step(result, student) -> str:
    """What the student's page says to do first."""
    page = (result.folder / "students" / f"{student}.html").read_text()
    steps = page.partition("What to do next")[2]
    return re.sub(r"<[^>]*>", "", steps.partition("<li>")[2].partition("</li>")[0])


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
    "long name": ({"a" * 250 + ".out": b"x"}, "leaves the folder"),
    "link": ({link_in_zip("evil.out", "/etc/passwd"): b"/etc/passwd"}, "a link or device"),
    "archive within": ({"02/inner.zip": b"PK"}, "holds another archive, inner.zip"),
}


@pytest.mark.parametrize(("files", "words"), EVIL.values(), ids=list(EVIL))
def test_evil_zips(tmp_path, grade, files, words):
    path = tmp_path / "class" / "eve.zip"
    zip_of(path, files_of_a_lesson())
    with zipfile.ZipFile(path, "a") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    hand_in(tmp_path / "class" / "ada" / "02")
    before = {p for p in tmp_path.rglob("*") if "grades" not in p.parts}
    result = grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == line_of(result, "eve")[2] == "10/10"
    assert {p for p in tmp_path.rglob("*") if "grades" not in p.parts} == before
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
    zeros = b"0" * (48 << 20)
    zip_of(tmp_path / "class" / "eve.zip", files_of_a_lesson(), **{"02/z.out": zeros})
    tar_of(tmp_path / "class" / "ida.tar.gz", files_of_a_lesson() | {"02/z.out": zeros})
    monkeypatch.setattr(archives, "MAX_MEMBERS", 50)
    many = {f"02/{i}.out": b"" for i in range(60)}
    zip_of(tmp_path / "class" / "joe.zip", files_of_a_lesson() | many)
    result = grade(tmp_path / "class")
    for student, words in [("eve", "far more"), ("ida", "far more"), ("joe", "more than 50 files")]:
        assert line_of(result, student)[2:4] == ["10/10", "graded"]
        assert words in (result.folder / "students" / f"{student}.html").read_text()


def test_outputs_behind_a_data_set_of_many_files_are_taken(tmp_path, grade, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 50)
    samples = {f"02_serial/data/train/{number}": b"x" for number in range(60)}
    zip_of(tmp_path / "class" / "ada.zip", samples | files_of_a_lesson())
    assert line_of(grade(tmp_path / "class"), "ada")[2:4] == ["10/10", "graded"]


def test_a_bomb_costs_nobody_else_in_the_zip_of_a_class(tmp_path, grade):
    files = {f"class/{one}/{name}": data for one in ("ada", "zoe")
             for name, data in files_of_a_lesson().items()}  # fmt: skip
    zip_of(tmp_path / "class.zip", {"class/ada/0.out": b"0" * (33 << 20)} | files)
    result = grade(tmp_path / "class.zip")
    assert line_of(result, "ada")[2] == line_of(result, "zoe")[2] == "10/10"
    assert "class/ada/0.out unpacks to far more" in result.stderr


def damage(packed, name, what="its bytes") -> None:
    data = bytearray(packed.read_bytes())
    with zipfile.ZipFile(packed) as archive:
        info = archive.getinfo(name)
    begin = info.header_offset
    if what == "its bytes":
        data[begin + 30 + len(info.filename) + 2] ^= 0xFF
    elif what == "its header":
        data[begin : begin + 4] = b"none"
    else:
        listed = data.rindex(info.filename.encode()) - 46
        data[listed + 10 : listed + 12] = data[begin + 8 : begin + 10] = (77).to_bytes(2, "little")
    packed.write_bytes(data)


@pytest.mark.parametrize("what", ["its bytes", "its header", "its kind of packing"])
def test_one_damaged_file_of_an_archive_costs_itself_alone(tmp_path, grade, what):
    packed = tmp_path / "class" / "ada.zip"
    zip_of(packed, files_of_a_lesson() | {"a_damaged_note.txt": "word " * 400})
    damage(packed, "a_damaged_note.txt", what)
    result = grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == "10/10"
    page = (result.folder / "students" / "ada.html").read_text()
    assert "a_damaged_note.txt is damaged in the archive" in page
    assert line_of(result, "ada")[5] == "Left out: a_damaged_note.txt is damaged in the archive"


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
    told = "02_torch_2.out is damaged in work.zip: pack again, and hand that in"
    assert first_step(result, "tor").startswith(told)
    told = "answers.txt is damaged in work.zip: pack again, and hand that in"
    assert first_step(result, "wer").startswith(told)
    told = "my work.zip lies packed in 02_serial.zip: unpack it, and pack only once"
    assert first_step(result, "ben").startswith(told)
    page = (result.folder / "students" / "ben.html").read_text()
    assert "02_serial.zip holds another archive, my work.zip" in page


def test_of_many_things_left_out_the_class_is_told_one(tmp_path, grade):
    links = [member(f"02/{number}.out", tarfile.SYMTYPE, "x") for number in range(3)]
    tar_of(tmp_path / "class" / "eve.tar.gz", files_of_a_lesson(), links)
    told = "Left out: a link or device: 02/0.out (and 2 more)"
    assert line_of(grade(tmp_path / "class"), "eve")[5] == told


@pytest.mark.parametrize("name", ["eve.zip", "eve.tar.gz", "eve.tar.xz", "eve.tar"])
@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04broken", b"\x1f\x8b\x08broken", os.urandom(3000)]
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
    assert line_of(result, "eve")[5] == "The archive cannot be opened"
    page = (result.folder / "students" / "eve.html").read_text()
    assert f"cut off, or no {'zip' if name.endswith('zip') else 'tar'} at all" in page
    assert first_step(result, "eve").startswith(f"{name}: upload it again")
    assert page.count("<dt>found</dt>") == 1  # the archive, and nothing of what is not in it
    assert "--lesson" not in page


def test_more_files_than_anybody_hands_in(tmp_path, grade):
    """Not timed: work that grows with the square of the files would keep this test from ending."""
    folder = tmp_path / "class" / "eve" / "02"
    folder.mkdir(parents=True)
    for number in range(10_500):
        os.close(os.open(folder / f"f{number}.out", os.O_CREAT | os.O_WRONLY))
    hand_in(tmp_path / "class" / "joe" / "02")
    result = grade(tmp_path / "class")
    assert line_of(result, "eve")[5].startswith("Left out: more than 10,000 files")
    assert line_of(result, "joe")[2] == "10/10"
    assert "more than 10,000 files" in (result.folder / "students" / "eve.html").read_text()


def test_work_packed_twice_is_named(tmp_path, grade):
    zip_of(tmp_path / "inner.zip", files_of_a_lesson())
    packed = {"ben_02.zip": (tmp_path / "inner.zip").read_bytes()}
    zip_of(tmp_path / "class" / "ben.zip", packed)
    result = grade(tmp_path / "class")
    found = "ben.zip holds another archive, ben_02.zip, which is not opened"
    assert line_of(result, "ben")[5] == f"Left out: {found}"
    page = (result.folder / "students" / "ben.html").read_text()
    assert "ben_02.zip" in page
    assert "unpack it" in page


def test_a_folder_and_its_own_package_are_one_submission(tmp_path, grade):
    """`lessons submit` leaves a package in the folder; the whole folder may be collected."""
    lesson = tmp_path / "class" / "eva" / "02_serial"
    zip_of(lesson / "02_serial.zip", files_of_a_lesson())
    with zipfile.ZipFile(lesson / "02_serial.zip") as package:
        package.extractall(tmp_path / "class" / "eva")
    result = grade(tmp_path / "class")
    assert line_of(result, "eva")[2:5] == ["10/10", "graded", "self-consistent"]
    assert result.exit_code == 0


def test_one_row_for_each_lesson_of_a_student(tmp_path, grade):
    """Loose files and an archive that does not open have no lesson of their own in their names."""
    eve, joe = tmp_path / "class" / "eve", tmp_path / "class" / "joe"
    for place, content in files_of_a_lesson().items():
        write_lines(eve / place, [content.decode()])
    (eve / "work.zip").write_bytes(b"PK\x03\x04 and then nothing")
    write_lines(eve / "again_9.out", make_record(job_id="9"))
    joe.mkdir()
    (joe / "work.zip").write_bytes(b"no archive at all")
    (tmp_path / "roster.csv").write_text("student\neve\njoe\n")
    result = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert [row[:2] for row in result.table] == [["eve", "02"], ["joe", "02"]]
    assert all("The archive cannot be opened" in row[5] for row in result.table)
    assert "again_9.out" in (tmp_path / "grades" / "students" / "eve.html").read_text()
    assert result.table[1][3] == "missing"


def test_a_damaged_archive_gives_what_came_out_before(tmp_path, grade):
    path = tmp_path / "class" / "eve.zip"
    noise = os.urandom(10_000)
    zip_of(path, files_of_a_lesson(), **{"02_serial/z.txt": noise})
    data = path.read_bytes()
    middle = data.index(noise[:100]) + 5_000
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    result = grade(tmp_path / "class")
    assert line_of(result, "eve")[2] == "10/10"
    page = (result.folder / "students" / "eve.html").read_text()
    assert "02_serial/z.txt is damaged in the archive" in page


def test_links_pipes_and_folders_without_end(tmp_path, grade):
    folder = hand_in(tmp_path / "class" / "eve" / "02")
    secret = write_lines(tmp_path / "secret.out", make_record(source="keras-horovod", size=2))
    (folder / "stolen.out").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.out")
    deep = folder
    for _ in range(30):
        deep = deep / "d"
        deep.mkdir()
    write_lines(deep / "x.out", ["x"])
    result = grade(tmp_path / "class")
    page = (result.folder / "students" / "eve.html").read_text()
    assert line_of(result, "eve")[2] == "10/10"
    for words in ("a link, which is not followed", "a pipe, socket or device", "too deep"):
        assert words in page
    assert "keras-horovod" not in page


NAMES = [
    "<script>alert(1)<",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(0)",
    "new\nline",
    "red\x1b[31mtext",
    "turn\u202eround",
    "quo'te\"d",
    "+1-555",
    "@cmd",
    "tab\tbed",
    "{{ 7 * 7 }}",
    "a;b,c",
    "dot. .",
    os.fsdecode(b"bytes \xff\xfe"),
]


def test_names_are_only_text(tmp_path, grade):
    for number, name in enumerate(NAMES):
        answers = {
            "predict_two_ranks": name.replace("\n", " "),
            "s4_epoch_s": name.replace("\n", " "),
        }
        keras = make_record(job_id=str(number), device=name, model=name)
        hand_in(tmp_path / "class" / name / "02", keras=keras, answers=answers)
    result = grade(tmp_path / "class", "--junit")
    assert result.exit_code in (0, 1)
    assert len(result.stdout.splitlines()) == len(NAMES) + 1
    pages = list(result.folder.rglob("*.html"))
    assert len(pages) == len(NAMES) + 1
    for path in pages:
        text = path.read_text()
        # what students control may stand between tags only, never as one
        assert "<script>alert" not in text
        assert "<img" not in text
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
        assert "49" not in re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", text, flags=re.S)
    for path in (*result.folder.glob("*.csv"), *result.folder.glob("*.json")):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202e]", path.read_text())
    for path in result.folder.glob("*.csv"):
        for line in path.read_text().splitlines()[1:]:
            assert not line.lstrip('"').startswith(("=", "+", "@"))
    assert not re.search(r"[\x1b\u202e]", result.stdout)


@given(st.text(max_size=300))
def test_printable_is_one_harmless_line(text):
    shown = printable(text)
    assert shown.isprintable() or shown == ""
    assert len(shown) <= 220


@given(st.text(max_size=60))
def test_no_cell_is_a_formula(text):
    assert not csv_cell(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120))
def test_file_names_are_safe_and_tell_students_apart(one, other):
    for name in (one, other):
        made = file_name(name)
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,90}", made)
        assert made not in (".", "..")
    if one != other:
        assert file_name(one).casefold() != file_name(other).casefold() or (
            file_name(one) == one and file_name(other) == other
        )


@given(st.binary(max_size=400))
def test_answers_are_read_whatever_they_are(data):
    given_answers, findings = parse_answers(data, "answers.txt")
    for answer in given_answers.values():
        number = as_number(answer.text)
        assert number is None or abs(number) < 1e301
    for finding in findings:
        assert finding.where[0].line >= 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from([line.encode() for line in make_record()]),
            st.sampled_from([line[:80].encode() for line in make_record()]),
        ),
        max_size=30,
    )
)
def test_no_output_breaks_the_grader(tmp_path_factory, lines):
    from click.testing import CliRunner

    from autograder.cli import main

    folder = tmp_path_factory.mktemp("fuzz") / "class" / "eve" / "02"
    folder.mkdir(parents=True)
    (folder / "a.out").write_bytes(b"\n".join(lines))
    result = CliRunner().invoke(main, ["grade", str(folder.parent.parent)])
    assert result.exit_code in (0, 1), result.output
    assert "grader error" not in result.output
