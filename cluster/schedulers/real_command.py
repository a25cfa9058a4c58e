"""Run a batch system's own commands.

Each command is shown before it runs, so that students learn it.
"""

import os
import re
import shlex
import subprocess
from itertools import islice

import click

from cluster.schedulers.contract import Show
from cluster.sites.site_files import Site, find_program, personal_file


def need(program: str, site: Site) -> None:
    if not find_program(program):
        raise click.ClickException(
            f"{program} is not on this machine, so jobs for {site.name} cannot be handled here:"
            " log in there, or choose this machine: cluster use laptop"
        )


def shown(words: list[str], site: Site | None = None, without: frozenset[str] = frozenset()) -> str:
    """Return the command as a user would type it.

    The variables that the site file sets for the command are included.
    """
    settings = []
    if site:
        names = sorted(n for n in site.exports.keys() - without if n.startswith("SBATCH_"))
        if site.file != personal_file().resolve():
            names.append("COURSE_SITE")
        settings = [f"{name}={shlex.quote(site.exports[name])}" for name in names]
        unset = [f"-u {name}" for name in sorted(without & os.environ.keys())]
        settings = [*(["env", *unset] if unset else []), *settings]
    return " ".join(["$", *settings, shlex.join(words)])


def run(
    words: list[str], exports: dict[str, str] | None = None, without: frozenset[str] = frozenset()
) -> subprocess.CompletedProcess:
    """Run a command with the site's variables, except those in `without`."""
    variables = {**os.environ, **(exports or {})}
    try:
        return subprocess.run(
            words,
            env={name: value for name, value in variables.items() if name not in without},
            capture_output=True,
            text=True,
            timeout=120,
        )
    except FileNotFoundError:  # as a shell says it
        return subprocess.CompletedProcess(words, 127, "", f"{words[0]} is not on this machine")
    except subprocess.TimeoutExpired:
        raise click.ClickException(f"{words[0]} has not answered for two minutes") from None


def complaint(done: subprocess.CompletedProcess, otherwise: str) -> str:
    """Return what a command wrote about its failure, without a prefix such as `sbatch: error:`."""
    return (
        re.sub(r"^\w+: (error|fatal): ", "", done.stderr.strip(), flags=re.MULTILINE) or otherwise
    )


def job_id(
    done: subprocess.CompletedProcess, advice: dict[str, str], site: Site, show: Show
) -> str:
    """Return the id that a submission printed, or raise its message with advice, by pattern."""
    number = re.search(r"(?:Submitted batch job |^)(\d+)", done.stdout.strip())
    if done.returncode or not number:
        message = complaint(done, f"{done.args[0]} gave no job id")
        fitting = (text for pattern, text in advice.items() if re.search(pattern, message))
        lines = [message, *(text.format(site=site.name) for text in islice(fitting, 1))]
        raise click.ClickException("\n".join(lines))
    if done.stderr.strip():  # where centres print a project's budget
        show(done.stderr.rstrip())
    return number[1]


def pass_through(words: list[str]) -> None:
    """Show a command, run it, and print its output."""
    click.echo(f"$ {shlex.join(words)}", err=True)
    done = run(words)
    click.echo(done.stdout, nl=False)
    if done.returncode:
        raise click.ClickException(complaint(done, f"{words[0]} failed"))
