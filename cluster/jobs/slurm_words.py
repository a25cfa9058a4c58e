"""Answer Slurm's commands on a machine without Slurm, for the laptop's queue and for PBS.

python -m cluster.jobs.slurm_words sbatch --wait job.sbatch

The scripts in laptop_bin call this. They are last on the PATH of `make lab`, so a real Slurm comes
first, unless the site that you chose is not Slurm's: then ~/.dl-course/site.sh puts them first.
"""

import argparse
import os
import signal
import sys

import click

from autograder.errors import SettingsError
from cluster.job_file.sbatch_options import OptionError
from cluster.jobs.submit import submit_words
from cluster.schedulers import accounting_table
from cluster.schedulers.known import WITHOUT_SLURM
from cluster.sites import site_files
from cluster.sites.site_files import Site

# What each command understands, as its answer to anything else says.
FORMS = {
    "squeue": "squeue [--me] [--jobs=JOB]",
    "scancel": "scancel [--signal=USR1] JOB…",
    "sacct": "sacct [-X] [--jobs=JOB] [--format=JobID,State,…] [--parsable2] [--noheader]",
}


class Words(argparse.ArgumentParser):
    """A parser that answers a word it does not know with one sentence."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise SettingsError(f"{self.prog}: {message}; on this machine it knows: {FORMS[self.prog]}")


def main(words: list[str]) -> int:
    name, *rest = words
    try:
        site = site_files.current()
        if site.scheduler not in WITHOUT_SLURM:
            raise SettingsError(
                f"{name}: this machine has no Slurm, and your site is {site.name}: log in there, "
                "or choose this machine with `cluster use laptop`"
            )
        COMMANDS[name](rest, site)
    except (OSError, click.ClickException) as error:
        text = error.message if isinstance(error, click.ClickException) else str(error)
        print(text if text.startswith(name) else f"{name}: {text}", file=sys.stderr)
        return 2 if isinstance(error, OptionError) else 1
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def sbatch(words: list[str], site: Site) -> None:
    submit_words(words, site, show=remark)


def remark(line: str) -> None:
    if not line.startswith("$ sbatch"):  # the command that the user has just typed
        print(line, file=sys.stderr)


def squeue(words: list[str], site: Site) -> None:
    parser = Words("squeue", add_help=False, allow_abbrev=False)
    parser.add_argument("--me", action="store_true")
    parser.add_argument("-u", "--user")
    parser.add_argument("-j", "--jobs", default="")
    asked = parser.parse_args(words)
    WITHOUT_SLURM[site.scheduler].show_queue([each for each in asked.jobs.split(",") if each])


def scancel(words: list[str], site: Site) -> None:
    parser = Words("scancel", add_help=False, allow_abbrev=False)
    parser.add_argument("-s", "--signal")
    parser.add_argument("jobs", nargs="+")
    asked = parser.parse_args(words)
    scheduler, unknown = WITHOUT_SLURM[site.scheduler], []
    number = signal_named(asked.signal) if asked.signal else None
    for label in asked.jobs:
        try:
            if number is None:
                scheduler.cancel(label)
            else:
                scheduler.send_signal(label, number)
        except click.ClickException as error:  # the others are ended nevertheless
            unknown.append(error)
    if unknown:
        raise unknown[0]


def signal_named(text: str) -> signal.Signals:
    """Return the signal of a name such as USR1 or SIGUSR1."""
    try:
        return signal.Signals[f"SIG{text.upper().removeprefix('SIG')}"]
    except KeyError:
        raise SettingsError(f"there is no signal {text}") from None


def sacct(words: list[str], site: Site) -> None:
    parser = Words("sacct", add_help=False, allow_abbrev=False)
    parser.add_argument("-X", "--allocations", action="store_true")
    parser.add_argument("-P", "--parsable2", action="store_true")
    parser.add_argument("-n", "--noheader", action="store_true")
    parser.add_argument("-j", "--jobs", default="")
    parser.add_argument("-o", "--format", default="")
    asked = parser.parse_args(words)
    labels = [each for each in asked.jobs.split(",") if each]
    rows = WITHOUT_SLURM[site.scheduler].records(labels)
    names = [each.partition("%")[0] for each in asked.format.split(",") if each]
    accounting_table.show(rows, asked.parsable2, names, header=not asked.noheader)


COMMANDS = {function.__name__: function for function in (sbatch, squeue, scancel, sacct)}

if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    sys.exit(main(sys.argv[1:]))
