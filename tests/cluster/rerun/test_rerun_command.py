"""Test which submissions `cluster rerun` runs again, and its refusals before it runs anything."""

import os
import re
import signal
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder.cli import main as autograder
from cluster.cli import main
from cluster.rerun.account import Account, account_named, check_closed
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
    words = (course_class, "02", "--draw", 2, "--as", "nobody-here")
    seed, names = drawn(rerun(*words).stderr)
    assert len(names.split(", ")) == 2
    assert drawn(rerun(*words, "--seed", seed).stderr) == (seed, names)
    every = {drawn(rerun(*words, "--seed", n).stderr)[1] for n in range(20)}
    assert len(every) > 3


def test_students_are_those_of_the_collected_class(tmp_path):
    """Students are found by the names of their folders, which `--reruns` looks for."""
    down = write(tmp_path, "HPC-Lab 1-88", moodle())
    (tmp_path / "roster.csv").write_text(ROSTER)
    roster = ["--roster", str(tmp_path / "roster.csv")]
    home = tmp_path / "class"
    words = ["collect", str(down), "--from", "moodle", "--into", str(home), *roster]
    assert CliRunner().invoke(autograder, words).exit_code == 0
    told = rerun(home, "01", "--as", "nobody-here", "--draw", 9)
    assert drawn(told.stderr)[1] == "ada, ben, zoe"


def test_class_yaml_gives_the_profile_and_the_roster(course_class):
    (course_class.parent / "roster.csv").write_text("student,name\nada,Ada Lovelace\n")
    (course_class / "class.yaml").write_text("profile: full\nroster: ../roster.csv\n")
    words = ["rerun", str(course_class / "ada"), "02", "--as", "nobody-here"]
    done = CliRunner().invoke(main, words)
    assert "no account nobody-here" in done.stderr


# The arguments, and words of the message.
REFUSED = [
    (["CLASS", "02", "--as", "nobody"], "Name CLASS/STUDENT, or CLASS with --draw"),
    (["CLASS/ada", "02"], "--as"),
    (["CLASS/ada", "02", "--as", "nobody-here"], "no account nobody-here"),
    (["CLASS/ada", "02", "--as", "root"], "name another one"),
    (["CLASS/ada", "44", "--as", "nobody"], "there is no lesson 44"),
    (["CLASS/eve", "02", "--as", "nobody"], "submitted nothing"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_what_is_refused(course_class, words, sentence, monkeypatch):
    monkeypatch.chdir(course_class.parent)
    words = [word.replace("CLASS", str(course_class)) for word in words]
    result = rerun(*words)
    assert result.exit_code != 0
    assert sentence in " ".join(result.stderr.split()), result.stderr
    assert not (course_class.parent / "reruns" / "ada").exists()


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


def test_an_interrupted_command_is_ended(tmp_path):
    """End the command itself, because sudo cannot be ended by the person who called it."""
    like_sudo = ("sh", "-c", 'trap : TERM; "$@"; exit', "sh")
    account = Account("me", like_sudo, str(tmp_path), {})
    waits = f"trap 'touch {tmp_path}/cancelled; exit' TERM; while sleep 0.1; do :; done"
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(1)
    with pytest.raises(KeyboardInterrupt):
        account.run("sh", "-c", waits)
    assert (tmp_path / "cancelled").exists()
    assert account.run("cat", data=b"4\n5\n" * 99999).stdout == b"4\n5\n" * 99999
