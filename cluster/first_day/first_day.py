"""`cluster first-day`: what an instructor tries at a new centre, in order, up to what is wrong."""

import time
from pathlib import Path

import click

from cluster.first_day import report
from cluster.first_day.day import Day, Passed, WrongError
from cluster.first_day.steps import STEPS
from cluster.sites import site_files

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@click.command("first-day")
@click.option("--site", "site_name", metavar="SITE", help="The centre; else the one you use.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("first-day"),
    show_default=True,
    help="For its jobs and the report: a folder that all nodes see.",
)
@click.option(
    "--solutions",
    type=click.Path(path_type=Path, file_okay=False),
    default=SOLUTIONS,
    help="The lessons' solutions; default: those of this course.",
)
def first_day_command(site_name: str | None, folder: Path, solutions: Path) -> None:
    """Try a new centre step by step: the site file, the environment, jobs, GPUs, nodes, lessons 02
    and 07, a calibration, a grade.

    It stops at the first thing that is wrong and says what to do. Started again it goes on: jobs
    that ended well are not submitted twice. Exit code 0: the course runs there; 1: something is
    wrong.
    """
    if not (solutions / "02_serial").is_dir():
        raise click.ClickException(
            f"{solutions} holds no solutions; this command is for instructors:"
            " start it in the course's own folder, or name the folder with --solutions"
        )
    folder.mkdir(parents=True, exist_ok=True)
    site = site_files.current(site_name)
    day = Day(site, site_name, folder.resolve(), solutions.resolve())
    click.echo(f"A first day at {day.site.settings.get('SITE_TITLE') or day.site.name}\n")
    wrong = None
    for number, step in enumerate(STEPS, start=1):
        click.echo(f"{number}. {step.title}")
        began = time.monotonic()
        try:
            passed = step.function(day)
        except WrongError as error:
            wrong = (step, error)
            click.echo(f"   WRONG: {error.found}\n   → {error.advice}\n")
            break
        day.passed.append((step, passed, time.monotonic() - began))
        tell(passed)
    file = report.write(day, wrong)
    click.echo(f"The report, to be pasted: {file}")
    if wrong:
        left = len(STEPS) - len(day.passed) - 1
        click.echo(f"{left} steps are left: mend this, then start the same command again.")
        raise SystemExit(1)
    click.echo(f"The course runs here:\n   {report.tested_line(day)}")
    site_file = report.write_site_file(day)
    click.echo(f"The site file that says so, for cluster/sites: {site_file}")


def tell(passed: Passed) -> None:
    click.echo(f"   ok: {passed.found}")
    for remark in passed.remarks:
        click.echo(f"   look: {remark}")
    click.echo()
