"""`autograder check-mine`: what is decided, missing, and left to the instructor."""

import shutil

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.codes import FindingCode
from autograder.settings.rubric import FOLDER
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record


def yourself(*words):
    result = CliRunner().invoke(main, ["check-mine", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# What was submitted, what the output says and does not say, and the exit code.
CASES = {
    "all of it": (
        {},
        ["10 of 10 points if the instructor agrees (profile full)", "these look right: s4_epoch_s",
         "compared with what the solution reaches on your site"],
        ["not yet", "found:"],
        0,
    ),
    "a wrong answer": (
        {"answers": RIGHT_ANSWERS | {"keras_epoch_s": "99"}},
        ["1 not yet", "found: keras_epoch_s: 99", "asked: keras_epoch_s: what your own"],
        ["1.05"],
        1,
    ),
    "an answer whose truth is kept": (
        {"answers": RIGHT_ANSWERS | {"s4_epoch_s": "99"}},
        ["These answers are wrong:", "s4_epoch_s: How large can the microseconds", "0.33 not yet"],
        ["7.2", "which is not it"],
        1,
    ),
    "no attempt, no hint": (
        {"answers": {k: v for k, v in RIGHT_ANSWERS.items() if k != "s4_epoch_s"}},
        ["found: no answer", "0.33 not yet"],
        ["microseconds per sample"],
        1,
    ),
    "no torch": ({"torch": []}, ["found: no run of `torch`", "try: Submit the job"], [], 1),
    "small runs": (
        {"keras": make_record(samples=12800, train_samples=12800), "torch": make_record(
            source="torch", run="b" * 8, samples=12800, train_samples=12800)},
        ["(profile smoke)", "autograder check-mine --profile full"],
        [],
        None,
    ),
    "nothing yet": (
        {"keras": [], "torch": [], "answers": {}},
        [FindingCode.NOTHING_FOUND.heading, "try: "],
        ["✓", "Only your instructor"],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_says_what_is_decided(tmp_path, case):
    files, said, unsaid, code = CASES[case]
    folder = hand_in(tmp_path / "02_serial", **files)
    if not files.get("answers", True):
        shutil.rmtree(folder)
        folder.mkdir()
    result = yourself(folder)
    for words in said:
        assert words in result.output, result.output
    for words in unsaid:
        assert words not in result.output
    assert code in (None, result.exit_code)
    assert not list(tmp_path.glob("grades*"))


def test_it_says_the_same_without_an_instructors_files(tmp_path):
    """The students' edition, for example, has no expected answers."""
    folder = hand_in(tmp_path / "02_serial", answers=RIGHT_ANSWERS | {"s4_epoch_s": "99"})
    rubrics = tmp_path / "rubrics"
    shutil.copytree(FOLDER, rubrics, ignore=shutil.ignore_patterns("expected"))
    here = yourself(folder, "--rubrics", rubrics)
    assert (rubrics / "02.yaml").exists()
    assert here.output == yourself(folder).output


def test_where_it_looks(tmp_path, monkeypatch):
    hand_in(tmp_path / "lessons" / "02_serial")
    hand_in(tmp_path / "lessons" / "07_horovod", torch=[])
    for name in ("toolkit", "03_baseline"):
        (tmp_path / "lessons" / name).mkdir()
    monkeypatch.chdir(tmp_path / "lessons" / "02_serial")
    alone = yourself().output
    assert alone.startswith("02 A serial program")
    monkeypatch.chdir(tmp_path / "lessons")
    both = yourself().output
    assert "02 A serial program" in both
    assert "07 Horovod" in both
    assert "Nothing to grade yet in 03\n" in both
    monkeypatch.chdir(tmp_path)  # the course's own folder
    assert yourself().output == both


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("02_serial.zip", "is a file"),
        ("02_serial/answers.txt", "is a file"),
        ("nowhere", "does not exist"),
    ],
)
def test_only_folders_are_graded(tmp_path, name, wrong):
    folder = hand_in(tmp_path / "02_serial")
    shutil.make_archive(str(folder), "zip", folder)
    result = yourself(folder, tmp_path / name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{name}' {wrong}" in result.stderr


def test_packages_in_ones_own_folder_are_no_submissions(tmp_path):
    """`lessons submit` writes a package there, and an answer may have changed since."""
    before = hand_in(tmp_path / "before/02_serial", answers=RIGHT_ANSWERS | {"keras_epoch_s": "99"})
    folder = hand_in(tmp_path / "02_serial")
    alone = yourself(folder).output
    shutil.make_archive(folder / "02_serial", "zip", before)
    (folder / "older.rar").write_bytes(b"Rar!")
    assert yourself(folder).output == alone
