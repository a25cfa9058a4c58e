"""Two graders, one folder of grades: the second gets one sentence."""

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest

from autograder.commands import finish
from autograder.commands.finish import locked
from autograder.errors import SettingsError
from tests.autograder.make_record import hand_in


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(finish, "WAIT_S", 0.2)


def test_the_second_grader_says_one_sentence(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    with locked(tmp_path / "grades"):
        second = grade(tmp_path / "class")
    assert second.exit_code == 2
    assert second.stderr.count("\n") == 1
    assert "another grader is writing into" in second.stderr
    assert not (tmp_path / "grades" / "grades.csv").exists()
    assert grade(tmp_path / "class").table[0][2] == "10/10"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP])
def test_where_nothing_can_be_locked_a_warning_is_enough(tmp_path, grade, monkeypatch, number):
    def fails(descriptor, kind):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fails)
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    result = grade(tmp_path / "class")
    assert result.table[0][2] == "10/10"
    assert "cannot be locked" in result.stderr


HOLDER = """
import os, sys, time
from pathlib import Path
from autograder.commands.finish import locked
with locked(Path(sys.argv[1])):
    if os.fork() == 0:
        time.sleep(60)  # a worker that goes on
    print(os.getpid(), flush=True)
    time.sleep(60)
"""


def test_a_killed_grader_leaves_no_lock(tmp_path, monkeypatch):
    words = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as holder:
        holder.stdout.readline()
        with pytest.raises(SettingsError), locked(tmp_path):
            pytest.fail("two write into one folder")
        holder.kill()
        holder.wait()
        monkeypatch.setattr(finish, "WAIT_S", 30.0)  # its child may still hold the lock
        with locked(tmp_path):
            pass
        os.killpg(holder.pid, signal.SIGKILL)
