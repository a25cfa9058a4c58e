"""Running a batch system's own commands, shown first so that they can be learnt and typed."""

import os
import shlex
import shutil
import subprocess

import click

from cluster.sites.site import Site, personal_file


def need(program: str, where: Site) -> None:
    if not shutil.which(program):
        raise click.ClickException(
            f"{program} is not on this machine, so jobs for {where.name} cannot be handled here:"
            f" log in there, or run the job on this machine with --site laptop"
        )


def shown(words: list[str], where: Site | None = None) -> str:
    """The command as one would type it, with the variables that the site file sets for it."""
    settings = []
    if where:
        names = sorted(name for name in where.exports if name.startswith("SBATCH_"))
        if where.file != personal_file().resolve():
            names.append("COURSE_SITE")
        settings = [f"{name}={shlex.quote(where.exports[name])}" for name in names]
    return " ".join(["$", *settings, shlex.join(words)])


def run(words: list[str], exports: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(
            words,
            env={**os.environ, **(exports or {})},
            capture_output=True,
            text=True,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        raise click.ClickException(f"{words[0]} has not answered for two minutes") from None


def pass_through(words: list[str]) -> None:
    """Show the command, run it, let it print."""
    click.echo(f"$ {shlex.join(words)}", err=True)
    done = run(words)
    click.echo(done.stdout, nl=False)
    if done.returncode:
        raise click.ClickException(done.stderr.strip() or f"{words[0]} failed")
