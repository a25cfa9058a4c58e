"""A real set-up by an ordinary user, in a fresh clone, killed on its way and taken up again."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib import metadata
from pathlib import Path

import psutil
import pytest

from cluster.environment.python311 import cache_folder

ROOT = Path(__file__).parents[3]
STRANGER = "dl-course-test"

pytestmark = [pytest.mark.slow, pytest.mark.ranks]


@pytest.fixture(scope="module")
def user():
    """Somebody who is not root and may write in no other place than home."""
    if os.geteuid() != 0:
        yield pwd.getpwuid(os.geteuid())
        return
    home = tempfile.mkdtemp(prefix="dl-course-home-")
    subprocess.run(["useradd", "--no-create-home", "--home-dir", home, STRANGER], check=True)
    stranger = pwd.getpwnam(STRANGER)
    os.chown(home, stranger.pw_uid, stranger.pw_gid)
    yield stranger
    subprocess.run(["userdel", STRANGER], check=True)
    shutil.rmtree(home)


@pytest.fixture(scope="module")
def clone(user):
    """A clone of the course, and a cache that already has the Horovod wheels."""
    folder = Path(tempfile.mkdtemp(prefix="dl-course-clone-"))
    subprocess.run(["git", "clone", "--quiet", ROOT, folder / "course"], check=True)
    wheels = Path(cache_folder()) / "horovod"
    if wheels.is_dir():
        shutil.copytree(wheels, folder / "cache" / "dl-course" / "horovod")
    if os.geteuid() == 0:
        subprocess.run(["chown", "--recursive", user.pw_name, folder], check=True)
    yield folder / "course"
    shutil.rmtree(folder)


def environment(clone, user):
    keep = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return keep | {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": user.pw_dir,
        "XDG_CACHE_HOME": str(clone.parent / "cache"),
        "PIP_NO_COMPILE": "1",  # half the seconds, and no other files than .pyc
    }


def start(clone, user, *command):
    become = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return subprocess.Popen(
        command,
        cwd=clone,
        env=environment(clone, user),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **(become if os.geteuid() == 0 else {}),
    )


def finish(process):
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output
    return output


def kill_with_children(process):
    everybody = [*psutil.Process(process.pid).children(recursive=True), process]
    for one in everybody:
        one.send_signal(signal.SIGKILL)
    process.communicate()


def test_set_up_survives_a_kill_and_is_complete(clone, user):
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    process = start(clone, user, "make", ".venv")
    deadline = time.monotonic() + 600
    while len(list(packages.glob("*.dist-info"))) < 30:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    kill_with_children(process)

    output = finish(start(clone, user, "make", ".venv"))
    assert "an empty .venv" not in output, "it began anew instead of going on"
    assert "an allreduce on two ranks" in output

    broken = [
        str(file)
        for part in metadata.distributions(path=[str(packages)])
        for file in part.files or []
        if not file.locate().exists() and file.suffix != ".pyc"
    ]
    assert broken == []
    assert (clone / ".venv" / ".set-up" / "complete").stat().st_uid == user.pw_uid


def test_afterwards_make_does_nothing_and_the_commands_work(clone, user):
    assert finish(start(clone, user, "make", ".venv")) == ""
    assert "make demo" in finish(start(clone, user, "make"))
    for command in ("lessons", "cluster", "autograder"):
        assert "Usage" in finish(start(clone, user, f".venv/bin/{command}", "--help"))
