"""`cluster first-day`: an instructor tries a new centre step by step, up to the first problem."""

import os
import time
from pathlib import Path

import click

from cluster.first_day import report
from cluster.first_day.day import Day, WrongError
from cluster.first_day.steps import STEPS
from cluster.sites import site_files

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@click.command(
    "first-day",
    epilog=(
        "Exit code 0: the course runs there; 1: something is wrong, and the output says what; "
        "2: wrong usage."
    ),
)
@click.option("--site", "site_name", metavar="SITE", help="Site to test. Default: the site in use.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("first-day"),
    show_default=True,
    help="Folder for the jobs and the report; all nodes must see it.",
)
@click.option(
    "--solutions",
    type=click.Path(path_type=Path, file_okay=False),
    default=SOLUTIONS,
    help="Folder of the lessons' solutions. Default: this course's.",
)
def first_day_command(site_name: str | None, folder: Path, solutions: Path) -> None:
    """Test a new centre step by step: the site file, the environment, jobs, GPUs, nodes, lessons 02
    and 07, a calibration, a grade.

    It stops at the first problem and says what to do. Run it again to continue: jobs that succeeded
    are not submitted twice.
    """
    if not (solutions / "02_serial").is_dir():
        raise click.ClickException(
            f"{solutions} contains no solutions, which this command needs: run it in the"
            " instructor's course, or name the folder with --solutions"
        )
    folder.mkdir(parents=True, exist_ok=True)
    if site_name:
        os.environ["COURSE_SITE"] = str(site_files.file_of(site_name))
    day = Day(site_files.current(), folder.resolve(), solutions.resolve())
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
        looks = (f"   look: {remark}" for remark in passed.remarks)
        click.echo("\n".join([f"   ok: {passed.found}", *looks, ""]))
    file = report.write(day, wrong)
    click.echo(f"The report, which you can send to others: {file}")
    if wrong:
        left = len(STEPS) - len(day.passed) - 1
        click.echo(f"{left} steps remain. Correct this problem, then run the same command again.")
        raise SystemExit(1)
    click.echo(f"The course runs here. For the site file:\n   {report.tested_line(day)}")
