"""`cluster use` and `cluster sites`: choose the computer for jobs.

Personal settings are written to the user's home.
"""

import contextlib
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from cluster.sites import site_files

PERSONAL = {  # option of `cluster use` -> variable in ~/.dl-course/site.sh
    "account": "SBATCH_ACCOUNT",
    "partition": "SBATCH_PARTITION",
    "qos": "SBATCH_QOS",
    "reservation": "SBATCH_RESERVATION",
    "environment": "COURSE_ENVIRONMENT",
    "tensorflow_environment": "COURSE_ENVIRONMENT_TENSORFLOW",
    "data": "COURSE_DATA",
}

# A wrong folder would only be noticed in a job, or never.
FOLDER = click.Path(exists=True, file_okay=False, resolve_path=True)


def with_python(_context: click.Context, option: click.Parameter, folder: str | None) -> str | None:
    if folder and not Path(folder, "bin", "python").is_file():
        raise click.BadParameter(f"{folder} contains no bin/python", param=option)
    return folder


@click.command("use")
@click.argument("name", metavar="SITE")
@click.option("--account", help="Project that jobs are charged to.")
@click.option("--partition", help="Partition or queue, if not the site's usual one.")
@click.option("--qos", help="Quality of service, if not the site's usual one.")
@click.option("--reservation", help="Reservation of nodes, such as one for a course.")
@click.option(
    "--environment",
    type=FOLDER,
    callback=with_python,
    help="Folder of the Python environment. Default: the current one.",
)
@click.option(
    "--tensorflow-environment",
    type=FOLDER,
    callback=with_python,
    help="Folder of a second environment, for TensorFlow programs on GPUs.",
)
@click.option("--data", type=FOLDER, help="Folder of the data sets.")
def use_command(name: str, **mine: str | None) -> None:
    """Choose the computer that jobs run on."""
    course = site_files.course_file(name)
    settings = site_files.load(course).settings
    personal = {PERSONAL[option]: value for option, value in mine.items() if value}
    personal.setdefault("COURSE_ENVIRONMENT", sys.prefix)
    if settings.get("SITE_ACCOUNT") == "required" and "SBATCH_ACCOUNT" not in personal:
        raise click.UsageError(
            f"{name} charges every job to an account: cluster use {name} --account YOUR_PROJECT"
        )
    has_slurm = settings["SITE_SCHEDULER"] == "slurm"
    file = write(course, personal, () if has_slurm else (site_files.LAPTOP_BIN,))
    click.echo(f"Jobs now run on {name}: {settings['SITE_TITLE']}.")
    click.echo(f"Written: {file}. You may edit it. For `sbatch` in this shell: source {file}")


def write(course: Path, personal: dict[str, str], programs: Iterable[Path]) -> Path:
    """Write the personal site file. `programs` are folders that go first on the PATH."""
    file = site_files.personal_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Where your jobs run, with your own settings. Written by `cluster use`; you may edit it.",
        *(f"export {name}={shlex.quote(value)}" for name, value in personal.items()),
        f"source {shlex.quote(str(course))}",
        *(f"PATH={shlex.quote(str(folder))}:$PATH # sbatch, squeue …" for folder in programs),
    ]
    text = "\n".join(lines) + "\n"
    if file.is_file() and file.read_text() != text:
        kept = file.with_name("site.sh.before")
        file.replace(kept)
        click.echo(f"Your previous choice is kept in {kept}.", err=True)
    file.write_text(text)
    return file


@click.command("sites")
def sites_command() -> None:
    """List the sites and mark the current one with an asterisk."""
    used = None
    with contextlib.suppress(click.ClickException):  # one must still be chosen, or mended
        used = site_files.current()
    for name in site_files.names():
        try:
            settings = site_files.load(site_files.course_file(name)).settings
        except click.ClickException as error:
            click.echo(f"! {name:<13} {error.message}: cluster site check {name}")
            continue
        mark = "*" if used and name == used.name else " "
        click.echo(f"{mark} {name:<13} {settings['SITE_TITLE']}")
        click.echo(f"  {'':<13} tested: {settings['SITE_TESTED']}")
