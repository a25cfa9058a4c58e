"""Run a real set-up as an ordinary user: kill it halfway, then run it again to the end."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from cluster.environment.python311 import cache_folder

ROOT = Path(__file__).parents[3]
STRANGER = "dl-course-test"
HALF_WAY = 30  # packages, of about a hundred


@contextlib.contextmanager
def ordinary_user() -> Iterator[pwd.struct_passwd]:
    """Make a user who is not root and may write only in a home folder of their own."""
    if os.geteuid() != 0:
        yield pwd.getpwuid(os.geteuid())
        return
    home = tempfile.mkdtemp(prefix="dl-course-home-")
    subprocess.run(["useradd", "--no-create-home", "--home-dir", home, STRANGER], check=True)
    try:
        stranger = pwd.getpwnam(STRANGER)
        os.chown(home, stranger.pw_uid, stranger.pw_gid)
        yield stranger
    finally:
        subprocess.run(["userdel", STRANGER], check=True)
        shutil.rmtree(home)


@contextlib.contextmanager
def owned_by(user: pwd.struct_passwd, folder: Path) -> Iterator[None]:
    """Give a folder of root's to this user for the duration of the block."""
    give_to(user.pw_name, folder)
    try:
        yield
    finally:
        give_to("root", folder)


def give_to(name: str, folder: Path) -> None:
    if os.geteuid() == 0:
        subprocess.run(["chown", "--recursive", f"{name}:", folder], check=True)


def set_up(clone: Path, user: pwd.struct_passwd) -> None:
    """Set up the clone's .venv, taking Horovod's wheels from root's cache."""
    cache, ours = clone / "build" / "cache", Path(cache_folder()) / "horovod"
    wheels = cache / "dl-course" / "horovod"
    wheels.parent.mkdir(parents=True)
    if ours.is_dir():
        shutil.copytree(ours, wheels)
    with owned_by(user, clone):
        killed_and_taken_up_again(clone, user)
        make_does_nothing_and_the_commands_work(clone, user)
    shutil.copytree(wheels, ours, dirs_exist_ok=True)
    shutil.rmtree(cache / "pip", ignore_errors=True)


def killed_and_taken_up_again(clone: Path, user: pwd.struct_passwd) -> None:
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    process = start(clone, user, "make", "horovod")
    deadline = time.monotonic() + 600
    while len(list(packages.glob("*.dist-info"))) < HALF_WAY:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    kill_with_children(process)
    output = finish(start(clone, user, "make", "horovod"))
    assert "an empty .venv" not in output, "it started again from the beginning"
    assert "an allreduce on two ranks" in output

    broken = [
        str(file)
        for part in metadata.distributions(path=[str(packages)])
        for file in part.files or []
        if not Path(file.locate()).exists() and file.suffix != ".pyc"
    ]
    assert broken == []
    assert (clone / ".venv" / ".set-up" / "complete-horovod").stat().st_uid == user.pw_uid


def make_does_nothing_and_the_commands_work(clone: Path, user: pwd.struct_passwd) -> None:
    assert finish(start(clone, user, "make", "horovod")) == ""
    assert "make demo" in finish(start(clone, user, "make"))
    for command in ("lessons", "cluster", "autograder"):
        assert "Usage" in finish(start(clone, user, f".venv/bin/{command}", "--help"))


def start(clone: Path, user: pwd.struct_passwd, *command: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": user.pw_dir}
    environment["XDG_CACHE_HOME"] = str(clone / "build" / "cache")
    if os.geteuid() == 0:
        become = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid)]
        command = (*become, "--clear-groups", *command)
    return subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=3600)
    assert process.returncode == 0, output
    return output


def kill_with_children(process: subprocess.Popen[str]) -> None:
    everybody, parents = [process.pid], {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    for parent in everybody:  # the list grows in the loop
        everybody += [child for child, its_parent in parents.items() if its_parent == parent]
    for pid in everybody:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
