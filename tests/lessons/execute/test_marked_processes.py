"""Tests with a lesson's processes, any of which may end during a call."""

import os
import subprocess
import sys

import psutil

from lessons.execute.marked_processes import MARK, marked, stop_marked


def sleeper(mark):
    start = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    process = subprocess.Popen(start, env=os.environ | {MARK: mark}, stdout=subprocess.PIPE)
    process.stdout.read(1)
    return process


def test_one_that_ends_between_two_questions_is_no_error(monkeypatch):
    def gone(self):
        raise psutil.NoSuchProcess(self.pid)

    process = sleeper("a mark of this test")
    try:
        with monkeypatch.context() as patched:
            patched.setattr(psutil.Process, "status", gone)
            assert marked("a mark of this test") == []
        assert [one.pid for one in marked("a mark of this test")] == [process.pid]
        assert len(stop_marked("a mark of this test")) == 1
    finally:
        process.kill()
        process.wait()
