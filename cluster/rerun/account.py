"""Run and check commands as the unprivileged account that a rerun's jobs belong to.

Only the account itself accesses its files. The person who runs the grader therefore never follows a
link or pipe that the account may have created.
"""

import os
import pwd
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import click

COURSE = Path(__file__).resolve().parents[2]
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
# Load the site's software on the login node too: its Python runs the course's commands.
IN_SITE = """\
cd "$HOME" 2>/dev/null || cd /
source "$COURSE_SITE" >&2 || exit 1
if declare -F load_software >/dev/null; then load_software >&2 || exit 1; fi
[ -z "${COURSE_ENVIRONMENT:-}" ] || PATH="$COURSE_ENVIRONMENT/bin:$PATH"
exec "$@"
"""
CLUSTER = ("python", "-P", "-c", "from cluster.cli import main; main()")


@dataclass(frozen=True)
class Account:
    name: str
    front: tuple[str, ...]  # the words in front of a command that run it as the account
    home: str
    variables: dict[str, str] = field(
        default_factory=dict
    )  # variables of the site; no others are passed on

    def run(
        self,
        *words: str,
        home: str = "",
        data: bytes | None = None,
        show: bool = False,
        seconds: float | None = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command as this account, without our environment variables.

        `show` prints its output.
        """
        known = CLEAN | self.variables | {"HOME": home or self.home}
        known |= {"USER": self.name, "LOGNAME": self.name, "SHELL": "/bin/bash"}
        clean = ["env", "-i", *(f"{name}={value}" for name, value in known.items())]
        try:
            return subprocess.run(
                [*self.front, *clean, *words],
                input=data or b"",
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=None if show else subprocess.PIPE,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            said = f"{words[0]} has not ended within {seconds:g} s for the account {self.name}"
            raise click.ClickException(said) from None

    def do(self, *words: str, home: str = "", data: bytes | None = None) -> str:
        done = self.run(*words, home=home, data=data)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise click.ClickException(f"{words[0]} failed for the account {self.name}: {said[-1]}")
        return done.stdout.decode(errors="replace").strip()

    def cluster(
        self, *words: str, home: str, show: bool = False, seconds: float | None = 120
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `cluster …` as the account, with the site's software."""
        here = (*CLUSTER, *words)
        return self.run(
            "bash", "-c", IN_SITE, "cluster", *here, home=home, show=show, seconds=seconds
        )


def account_named(name: str | None, variables: dict[str, str]) -> Account:
    """Return the account if commands can run under it, which needs root or sudo permission."""
    if name is None:
        raise click.UsageError(
            "students' programs must run under an account that cannot read the class's files: "
            "name it with --as USER (needs root, or sudo for that account)"
        )
    try:
        known = pwd.getpwnam(name)
    except KeyError:
        raise click.ClickException(f"there is no account {name} on this machine") from None
    if known.pw_uid in (0, os.getuid()):
        raise click.ClickException(
            f"{name} is root's or your own account, which can read the class: name another one"
        )
    front = ("runuser", "-u", name, "--") if os.getuid() == 0 else ("sudo", "-n", "-u", name, "--")
    account = Account(name, front, known.pw_dir, variables)
    try:
        allowed = account.run("true").returncode == 0
    except OSError:
        allowed = False
    if not allowed:
        raise click.ClickException(
            f"you cannot run commands as {name}: become root, or get sudo for that account"
        )
    return account


def check_closed(account: Account, *folders: Path) -> None:
    """Check that the account cannot read any files in these folders, by trying to read them."""
    for folder in folders:
        if not folder.exists():
            continue
        found = account.run(
            "find", str(folder.resolve()), "-type", "f", "-readable", "-print", "-quit"
        )
        readable = found.stdout.decode(errors="replace").strip()
        if readable:
            raise click.ClickException(
                f"{account.name} can read {readable!r}, so what runs as that account could too:"
                f" close the folder first: chmod go-rwx {folder}"
            )


def check_course(account: Account) -> str:
    """Check that the account can read the course and start its Python, but change neither."""
    program = (
        "import lessons.toolkit.record, cluster.cli, os, sys;"
        " print(); print(os.environ.get('COURSE_DATA', '')); print(sys.prefix)"
    )
    python = ("bash", "-c", IN_SITE, "python", "python", "-P", "-c", program)
    started = account.run(*python, seconds=120)
    if started.returncode:
        said = started.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise click.ClickException(
            f"{account.name} cannot start the course's Python in {COURSE} ({said[-1]}): open the"
            " course's folder for reading, or name an environment with --environment FOLDER"
        )
    *_, data, prefix = started.stdout.decode(errors="replace").splitlines()
    for folder in (COURSE, Path(prefix)):
        found = account.run("find", str(folder), "!", "-type", "l", "-writable", "-print", "-quit")
        writable = found.stdout.decode(errors="replace").strip()
        if writable:
            raise click.ClickException(
                f"{account.name} can write {writable!r}, so a program could change the course:"
                f" chmod -R go-w {folder}"
            )
    return data
