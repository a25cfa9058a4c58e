"""Test which submissions `cluster rerun` runs again, and its refusals before it runs anything."""

import json
import os
import pwd
import re
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder.cli import main as autograder
from autograder.settings.roster import read_roster
from cluster.cli import main
from cluster.rerun.account import account_named, check_closed
from cluster.rerun.choose import submission_at
from tests.autograder.make_record import hand_in
from tests.autograder.submissions.downloads import ROSTER, moodle, write


@pytest.fixture
def course_class(tmp_path):
    for name in ("ada", "ben", "cem", "dia"):
        hand_in(tmp_path / "class" / name / "02_serial")
    return tmp_path / "class"


def rerun(*words):
    result = CliRunner().invoke(main, ["rerun", *map(str, words), "--profile", "full"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def drawn(text):
    return re.search(r"Drawn with --seed (\d+): (.*)", text).groups()


def test_a_lot_is_the_same_for_the_same_seed(course_class):
    words = (course_class, "02", "--site", "laptop", "--draw", 2, "--as", "nobody-here")
    seed, names = drawn(rerun(*words).stderr)
    assert len(names.split(", ")) == 2
    assert drawn(rerun(*words, "--seed", seed).stderr) == (seed, names)
    every = {drawn(rerun(*words, "--seed", n).stderr)[1] for n in range(20)}
    assert len(every) > 3


def test_the_flagged_are_those_of_the_lesson_whose_evidence_is_odd(course_class, tmp_path):
    output = course_class / "ben" / "02_serial" / "02_serial_1.out"
    output.write_text(output.read_text().replace('"test_accuracy":0.978', '"test_accuracy":0.998'))
    grade = ["grade", str(course_class), "--out", str(tmp_path / "grades"), "--profile", "full"]
    assert CliRunner().invoke(autograder, grade).exit_code == 1
    words = (course_class, "02", "--site", "laptop", "--as", "nobody-here", "--draw", 9)
    flagged = rerun(*words, "--flagged", tmp_path / "grades")
    assert drawn(flagged.stderr)[1] == "ben"
    nobody = rerun(course_class, "03", *words[2:], "--flagged", tmp_path / "grades")
    assert drawn(nobody.stderr)[1] == "nobody"
    assert nobody.exit_code == 1


def test_students_are_those_of_the_collected_class(tmp_path):
    """Students are found by any name in the roster, and by the name that `--reruns` looks for."""
    down = write(tmp_path, "HPC-Lab 1-88", moodle())
    (tmp_path / "roster.csv").write_text(ROSTER)
    roster = ["--roster", str(tmp_path / "roster.csv")]
    home = tmp_path / "class"
    words = ["collect", str(down), "--from", "moodle", "--into", str(home), *roster]
    assert CliRunner().invoke(autograder, words).exit_code == 0
    people = read_roster(tmp_path / "roster.csv")
    for asked in ("ada", "Lovelace, Ada", "al1"):
        assert submission_at(home / asked, "01", people).owner == "ada"
    with pytest.raises(click.UsageError, match="ada2 submitted nothing"):
        submission_at(home / "ada2", "01", people)
    told = rerun(home, "01", "--site", "laptop", "--as", "nobody-here", "--draw", 9, *roster)
    assert drawn(told.stderr)[1] == "ada, ben, zoe"


# The arguments, and words of the message.
REFUSED = [
    (["CLASS", "02"], "name CLASS/STUDENT, or use --draw"),
    (["CLASS/ada", "02"], "name it with --as USER"),
    (["CLASS/ada", "02", "--as", "nobody-here"], "no account nobody-here"),
    (["CLASS/ada", "02", "--as", "root"], "name another one"),
    (["CLASS/ada", "44", "--as", "nobody"], "there is no lesson 44"),
    (["CLASS/eve", "02", "--as", "nobody"], "no student there has that name"),
    (["CLASS/" + "e" * 300, "02", "--as", "nobody"], "no student there has that name"),
    (["CLASS/ada", "e" * 300, "--as", "nobody"], "there is no lesson eee"),
    (["CLASSES/eve", "02", "--as", "nobody"], "does not exist"),
    (["CLASS", "02", "--flagged", "CLASS", "--as", "nobody"], "holds no records"),
    (["CLASS/ada", "02", "--site", "nowhere", "--as", "nobody"], "there is no site nowhere"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_what_is_refused(course_class, words, sentence, monkeypatch):
    monkeypatch.chdir(course_class.parent)
    words = [word.replace("CLASS", str(course_class)) for word in words]
    site = [] if "--site" in words else ["--site", "laptop"]
    result = rerun(*words, *site)
    assert result.exit_code != 0
    assert sentence in " ".join(result.stderr.split()), result.stderr
    assert not (course_class.parent / "reruns" / "ada").exists()


def test_grades_that_cannot_be_read(course_class, tmp_path):
    (tmp_path / "grades" / "records").mkdir(parents=True)
    (tmp_path / "grades" / "records" / "ada.json").write_text(json.dumps({"grades": [{}]}))
    words = (course_class, "02", "--site", "laptop", "--as", "nobody")
    result = rerun(*words, "--flagged", tmp_path / "grades")
    assert result.exit_code == 2
    assert "grade again" in result.stderr


# --- the account --------------------------------------------------------------------------------


@pytest.mark.root  # only root may become another account
def test_a_class_that_the_account_can_read_is_refused(course_class):
    nobody = account_named("nobody", {})
    open_folder = Path("/var/tmp") / f"class-{os.getpid()}"
    open_folder.mkdir(mode=0o755)
    secret = open_folder / "secret.txt"
    try:
        secret.touch(mode=0o600)
        check_closed(nobody, course_class, open_folder, Path("/no/such/folder"))
        secret.chmod(0o644)
        with pytest.raises(click.ClickException, match=r"can read .*secret.txt"):
            check_closed(nobody, course_class, open_folder)
        open_folder.chmod(0o700)
        check_closed(nobody, open_folder)
    finally:
        secret.unlink()
        open_folder.rmdir()


@pytest.mark.root  # only root may become another account
def test_commands_of_the_account_have_none_of_our_variables(monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", "secret")
    nobody = account_named("nobody", {"COURSE_DATA": "/data"})
    said = dict(line.split("=", 1) for line in nobody.do("env").splitlines())
    known = pwd.getpwnam("nobody")
    assert said["COURSE_DATA"] == "/data"
    assert (said["USER"], said["HOME"]) == ("nobody", known.pw_dir)
    assert "COURSE_TOKEN" not in said
    assert nobody.do("id", "-u") == str(known.pw_uid)
    with pytest.raises(click.ClickException, match="for the account nobody"):
        nobody.do("cat", "/etc/shadow")


@pytest.mark.root  # only root may become another account
def test_what_comes_back_is_what_the_account_can_read(tmp_path):
    """A link instead of an output gives no access to files that the account cannot read itself."""
    nobody = account_named("nobody", {})
    place = Path(nobody.do("mktemp", "-d", "/var/tmp/rerun-XXXXXXXX"))
    try:
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        (tmp_path / "secret").write_text("secret")
        nobody.do("ln", "-s", str(tmp_path / "secret"), str(place / "rerun_1.out"))
        assert nobody.run("head", "-c", "9", str(place / "rerun_1.out")).stdout == b""
    finally:
        nobody.do("rm", "-rf", str(place))
