"""The first lines of each Python in .venv: frameworks load sooner, and nothing is lost."""

import os
import subprocess
import sys

import pytest

from cluster.environment import quick_start

PROGRAM = """
import atexit, gc, site, sys
site.addsitedir(sys.argv[1])
gc.collect()
class Log:
    def __init__(self, file):
        self.file = file
        self.write = file.write
        self.me = self  # a cycle, which only the collector can take apart
log = Log(open(sys.argv[2], "w"))
log.write("the last line")
atexit.register(print, "at exit")
print(gc.get_threshold()[0], gc.isenabled())
sys.exit(7)
"""


@pytest.mark.parametrize("skip_teardown", [False, True])
def test_a_program_ends_as_it_would_have_ended(skip_teardown, tmp_path):
    quick_start.install(tmp_path)
    environment = {name: value for name, value in os.environ.items() if name[:6] != "COURSE"}
    if skip_teardown:
        environment["COURSE_SKIP_TEARDOWN"] = "1"
    file = tmp_path / "log.txt"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(tmp_path), str(file)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (7, "")
    assert ended.stdout.split() == ["50000", "True", "at", "exit"]
    if not skip_teardown:
        assert file.read_text() == "the last line"
