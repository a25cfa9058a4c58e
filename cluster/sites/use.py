"""`cluster use` and `cluster sites`: choose where jobs go; what is personal stays in your home."""

import shlex
import sys
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


@click.command("use")
@click.argument("name", metavar="SITE")
@click.option("--account", help="Project that jobs are charged to.")
@click.option("--partition", help="Partition or queue, if not the site's usual one.")
@click.option("--qos", help="Quality of service, if not the site's usual one.")
@click.option("--reservation", help="Nodes reserved for a course.")
@click.option("--environment", help="Folder of the Python environment; else the one in use.")
@click.option(
    "--tensorflow-environment",
    help="Folder of a second one, for TensorFlow's programs on GPUs (docs/install-cluster.md).",
)
@click.option("--data", help="Folder of the data sets.")
def use_command(name: str, **mine: str | None) -> None:
    """Choose the computer that jobs go to."""
    course = site_files.FOLDER / f"{name}.sh"
    site_files.file_of(name)  # a sentence if there is none
    settings = site_files.load(course).settings
    personal = {PERSONAL[option]: value for option, value in mine.items() if value}
    personal.setdefault("COURSE_ENVIRONMENT", sys.prefix)
    if settings.get("SITE_ACCOUNT") == "required" and "SBATCH_ACCOUNT" not in personal:
        raise click.UsageError(
            f"{name} charges every job to an account: cluster use {name} --account YOUR_PROJECT"
        )
    file = write(course, personal)
    click.echo(f"Jobs go to {name}: {settings['SITE_TITLE']}.")
    click.echo(f"Written: {file}, yours to edit. To use it in this shell: source {file}")


def write(course: Path, personal: dict[str, str]) -> Path:
    file = site_files.personal_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Where jobs go, and what is yours there. Written by `cluster use`; edit freely.",
        *(f"export {name}={shlex.quote(value)}" for name, value in personal.items()),
        f"source {shlex.quote(str(course))}",
    ]
    text = "\n".join(lines) + "\n"
    if file.is_file() and file.read_text() != text:
        kept = file.with_name("site.sh.before")
        file.replace(kept)
        click.echo(f"Your former choice is kept in {kept}.", err=True)
    file.write_text(text)
    return file


@click.command("sites")
def sites_command() -> None:
    """The sites there are; * marks the one in use."""
    used = site_files.current().name
    for name in site_files.names():
        settings = site_files.load(site_files.FOLDER / f"{name}.sh").settings
        mark = "*" if name == used else " "
        click.echo(f"{mark} {name:<13} {settings['SITE_TITLE']}")
        click.echo(f"  {'':<13} tried: {settings['SITE_TESTED']}")
