"""Load the site file in use and its settings: the computer that jobs run on."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import click

from autograder.errors import SettingsError
from cluster.sites import settings

FOLDER = Path(__file__).parent
NOT_SITES = {"into_image", "job", "pbs_job", "template"}  # shared parts and the template, not sites
BATCH_COMMANDS = ("sbatch", "qsub")
LAPTOP_BIN = FOLDER.parent / "jobs" / "laptop_bin"  # Slurm's words for the laptop's queue


class NoSiteError(click.ClickException):
    """No site is chosen, although the machine has a batch system."""


@dataclass(frozen=True)
class Site:
    name: str
    file: Path  # the file that jobs source: the personal one or the site's
    settings: dict[str, str]  # SITE_…
    exports: dict[str, str]  # SBATCH_… and other variables for submitting
    unset: frozenset[str] = frozenset()  # SBATCH_… that the file removes

    @property
    def scheduler(self) -> str:
        return self.settings.get("SITE_SCHEDULER", "")

    @property
    def settings_file(self) -> Path:
        """Return the file that sets SITE_…, after what the personal file sets."""
        return FOLDER / f"{self.name}.sh" if self.file == personal_file().resolve() else self.file

    def number(self, name: str) -> int:
        """Return a setting that is a whole number; 0 if the file leaves it empty."""
        return int(self.settings.get(name) or 0)

    def variable(self, name: str) -> str:
        """Return a variable's value as the batch system will see it."""
        return self.exports.get(name) or os.environ.get(name, "")


def personal_file() -> Path:
    return Path.home() / ".dl-course" / "site.sh"


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.sh") if path.stem not in NOT_SITES)


def course_file(name: str) -> Path:
    """Return the course's file for a site, or the template's."""
    if name not in [*names(), "template"]:
        raise SettingsError(
            f"there is no site {name}: choose one of {', '.join(names())},"
            " or copy cluster/sites/template.sh"
        )
    return FOLDER / f"{name}.sh"


def file_of(name: str) -> Path:
    """Return the file for `--site NAME`: the personal one if it fits, otherwise the course's."""
    course, mine = course_file(name), personal_file()
    fits = mine.is_file() and f"sites/{name}.sh" in mine.read_text()
    return mine if fits else course


def chosen_file(name: str | None) -> Path:
    """Return the site file to use: from --site, $COURSE_SITE, `cluster use`, or else the laptop's.

    A machine with a batch system is probably a login node, so the laptop is not the default there.
    """
    if name:
        return file_of(name)
    if os.environ.get("COURSE_SITE"):
        file = Path(os.environ["COURSE_SITE"])
        if not file.is_file():
            raise SettingsError(f"COURSE_SITE={file}: there is no such file; unset it")
        return file
    if personal_file().is_file():
        return personal_file()
    if command := next(filter(find_program, BATCH_COMMANDS), None):
        raise NoSiteError(
            f"no site is chosen, and this machine has a batch system ({command}): choose where jobs"
            " run with `cluster use SITE`; `cluster sites` lists the sites, and `laptop` is this"
            " machine itself"
        )
    return FOLDER / "laptop.sh"


def find_program(name: str, *more: str) -> str | None:
    """Return a batch system's program on the PATH or in `more`, and not the laptop's."""
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *more]
    real = [folder for folder in folders if Path(folder) != LAPTOP_BIN]
    return shutil.which(name, path=os.pathsep.join(real))


def current(name: str | None = None) -> Site:
    return load(chosen_file(name))


def environment_outside_jobs() -> dict[str, str]:
    """Return the environment without the variables that a job sets.

    If these variables are set, a site file loads modules, as it does in a job.
    """
    inside = ("SLURM_", "SITE_", "PBS_", "NEEDED_")
    return {key: value for key, value in os.environ.items() if not key.startswith(inside)}


def load(file: Path, **needed: str) -> Site:
    """Run the site file in a shell with `set -u`, as if outside a job, and return what it sets.

    `needed`: NEEDED_… variables, with which a site with shared nodes requests a part of each.
    """
    shell = subprocess.run(
        ["bash", "-c", 'set -au; source "$1" >&2 && env -0', "site", str(file)],
        env=environment_outside_jobs() | needed,
        capture_output=True,
        timeout=30,
    )
    if shell.returncode:
        said = settings.shell_error(file, shell.stderr.decode(errors="replace"))
        raise click.ClickException(f"{file}: {said}")
    after = dict(entry.split("=", 1) for entry in shell.stdout.decode().split("\0") if "=" in entry)
    values = {key: value for key, value in after.items() if key.startswith("SITE_")}
    exports = {
        key: value
        for key, value in after.items()
        if re.match(r"(SBATCH|COURSE|SACCT|SQUEUE)_", key) and os.environ.get(key) != value
    }
    for name in ("SITE_NAME", "SITE_SCHEDULER"):
        if not values.get(name):
            raise click.ClickException(f"{file}: it sets no {name}; is it a site file?")
    exports["COURSE_SITE"] = str(file.resolve())
    unset = frozenset(key for key in os.environ.keys() - after.keys() if key[:7] == "SBATCH_")
    site = Site(values["SITE_NAME"], file.resolve(), values, exports, unset)
    if wrong := next(settings.wrong_values(values | exports), None):
        raise SettingsError(f"{site.settings_file}: {wrong}")
    return site
