"""Run and check commands as the unprivileged account that a rerun's jobs belong to.

Only the account itself accesses its files, so nobody else follows a link or pipe that it made.
"""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

Ended = subprocess.CompletedProcess[bytes]
COURSE = Path(__file__).resolve().parents[2]
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
# Load the site's software on the login node too: its Python runs the course's commands.
IN_SITE = """\
cd "$HOME" 2>/dev/null || cd /
source "$COURSE_SITE" >&2 || exit 1
if declare -F load_software >/dev/null; then load_software >&2 || exit 1; fi
[ -z "${COURSE_ENVIRONMENT:-}" ] || PATH="$COURSE_ENVIRONMENT/bin:$PATH"
exec python -P "$@"
"""
SITE_PYTHON = ("bash", "-c", IN_SITE, "python")
PID_FIRST = ("sh", "-c", 'echo $$; exec "$@"', "sh")


@dataclass(frozen=True)
class Account:
    name: str
    front: tuple[str, ...]  # the words in front of a command that run it as the account
    home: str
    variables: dict[str, str]  # variables of the site; no others are passed on

    def run(self, *words: str, data: bytes = b"", show: bool = False) -> Ended:
        """Run a command as this account, without our variables. `show` prints its errors."""
        known = CLEAN | self.variables | {"HOME": self.home, "SHELL": "/bin/bash"}
        known |= {"USER": self.name, "LOGNAME": self.name}
        clean = ["env", "-i", *(f"{name}={value}" for name, value in known.items())]
        words, pipe = (*self.front, *clean, *PID_FIRST, *words), subprocess.PIPE
        streams: Any = {"stdin": pipe, "stdout": pipe, "stderr": None if show else pipe}
        with subprocess.Popen(words, bufsize=0, cwd="/", **streams) as process:
            pid = process.stdout.readline().strip()  # type: ignore[union-attr]
            try:
                output, errors = process.communicate(data)
            except BaseException:  # the command then cancels its job; sudo's process is root's
                self.run("sh", "-c", "kill $0", pid.decode())
                process.wait()
                raise
        return Ended(words, process.returncode, output, errors)

    def refuse(self, folder: Path, tests: tuple[str, ...], sentence: str) -> None:
        """Raise an error if a path in the folder passes these tests of `find`, by this account."""
        found = self.run("find", str(folder.resolve()), *tests, "-print", "-quit")
        if path := found.stdout.decode(errors="replace").strip():
            raise click.ClickException(f"{self.name} can {sentence.format(path=path)} {folder}")


def account_named(name: str, variables: dict[str, str]) -> Account:
    """Return the account if commands can run under it, which needs root or sudo permission."""
    try:
        known = pwd.getpwnam(name)
    except KeyError:
        raise click.ClickException(f"there is no account {name} on this machine") from None
    if known.pw_uid in (0, os.getuid()):
        raise click.ClickException(f"{name} can read the class, as root or you: name another one")
    front = ("runuser", "-u", name, "--") if os.getuid() == 0 else ("sudo", "-n", "-u", name, "--")
    account = Account(name, front, known.pw_dir, variables)
    if not shutil.which(front[0]) or account.run("true").returncode:
        raise click.ClickException(f"you cannot run commands as {name}: become root or get sudo")
    return account


def check_closed(account: Account, *folders: Path) -> None:
    """Check that the account cannot read any files in these folders, by trying to read them."""
    sentence = "read {path!r}, so what runs as that account could too; close it: chmod go-rwx"
    for folder in filter(Path.exists, folders):
        account.refuse(folder, ("-type", "f", "-readable"), sentence)


def check_course(account: Account) -> None:
    """Check that the account can start the course's Python but not change it."""
    show = "import lessons.toolkit.record, cluster.cli, sys; print(sys.prefix)"
    started = account.run(*SITE_PYTHON, "-c", show)
    if started.returncode:
        _, _, reason = started.stderr.decode(errors="replace").strip().rpartition("\n")
        raise click.ClickException(
            f"{account.name} cannot start the course's Python in {COURSE} ({reason}): let it read"
            " the folder, and set COURSE_ENVIRONMENT to an environment that it can start"
        )
    sentence = "write {path!r}, so a program could change the course: chmod -R go-w"
    for folder in (COURSE, Path(started.stdout.decode().splitlines()[-1])):
        account.refuse(folder, ("!", "-type", "l", "-writable"), sentence)
