"""The command `lessons run`: execute lessons headlessly, as CI and instructors do."""

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.jobs.horovod import provide_horovod_for
from cluster.schedulers.known import scheduler_of
from cluster.sites.site_files import current
from lessons.execute.environment import course_environment
from lessons.execute.plan import LIMITS, parse_parameter, plan_lessons, prepare_out
from lessons.execute.summary import explain, stand_ins, write_summary
from lessons.folders import course_root

if TYPE_CHECKING:
    from lessons.execute.run_lessons import LessonsRun


@click.command(
    "run",
    epilog=(
        "Exit code 0: all lessons passed; 1: a lesson failed; 2: wrong usage, nothing was started; "
        "128 + signal: interrupted."
    ),
)
@click.argument("lessons", metavar="[NN]...", nargs=-1)
@click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    default="smoke",
    show_default=True,
    help="Size of the runs: for 2 CPU cores (smoke) or GPU nodes (full).",
)
@click.option(
    "--site", metavar="SITE", help="Site for the lessons' jobs, as listed by `cluster sites`."
)
@click.option("--edition", type=click.Choice(["solutions", "lessons"]), help="Default: solutions.")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Lessons to run at the same time.")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter.")
@click.option("--out", type=click.Path(path_type=Path), help="Default: build/runs/<time>.")
@click.option("--cell-timeout", type=click.FloatRange(1), help="Time limit of a cell, in seconds.")
@click.option("--timeout", type=click.FloatRange(1), help="Time limit of a lesson, in seconds.")
def run_command(
    lessons: tuple[str, ...],
    profile: str,
    site: str | None,
    edition: str | None,
    jobs: int,
    parameters: tuple[str, ...],
    out: Path | None,
    cell_timeout: float | None,
    timeout: float | None,
) -> None:
    """Execute the named lessons, or all of them, in copies of their folders."""
    from lessons.execute.run_lessons import LessonsRun, run_lessons  # --help needs no psutil

    root = course_root()
    edition = chosen_edition(root, edition)
    given = dict(parse_parameter(text) for text in parameters)
    if given.get("profile", profile) != profile:
        raise click.UsageError("-p profile=… and --profile disagree; leave out -p profile.")
    try:
        where = current(site)
    except click.ClickException as error:
        raise click.UsageError(error.message) from error
    plans = plan_lessons(root, edition, lessons, {"profile": profile, **given})
    if scheduler_of(where).RUNS_HERE:
        provide_horovod_for(program for plan in plans for program in plan.source.glob("*.py"))
    limits = (cell_timeout or LIMITS[profile][0], timeout or LIMITS[profile][1])
    folder = (out or root / "build" / "runs" / f"{datetime.now():%Y-%m-%d_%H%M%S.%f}").resolve()
    prepare_out(folder, plans)
    run = LessonsRun(plans, folder, where.exports | course_environment(), limits, jobs)
    facts = {"edition": edition, "profile": profile, "site": where.name, "parameters": given}
    if os.environ.get("SLURM_JOB_ID") and scheduler_of(where).RUNS_HERE:
        # This process is a job itself, and the lesson's jobs run on its cores, in their own queue.
        os.environ["COURSE_LAPTOP_QUEUE"] = str(folder / "queue")
    import papermill.execute  # noqa: F401  # here: the lessons' processes are forked

    try:
        run_lessons(run, edition)
    finally:
        write_summary(folder, run.outcomes, facts)
    tell(run, profile)
    if run.stopped_by is not None:
        sys.exit(128 + run.stopped_by)
    sys.exit(0 if run.passed == len(plans) else 1)


def chosen_edition(root: Path, asked: str | None) -> str:
    solved = (root / "solutions").is_dir()
    if asked == "solutions" and not solved:
        raise click.UsageError(
            "This is the students' edition, which has no solutions to run. Fill the gaps of a "
            "lesson, and run it without --edition."
        )
    return asked or ("solutions" if solved else "lessons")


def tell(run: "LessonsRun", profile: str) -> None:
    """Print failures, remaining processes and stand-in data sets for a person at the terminal."""
    for outcome in run.outcomes:
        if outcome.status != "passed":
            click.echo("\n".join([f"\n{outcome.lesson}: {outcome.status}", *explain(outcome)]))
        if outcome.left_running:
            names = ", ".join(outcome.left_running)
            click.echo(f"\n{outcome.lesson}: left processes behind, which were stopped: {names}")
        for name in stand_ins(run.out, outcome.lesson):
            click.echo(
                f"\n{outcome.lesson}: trained on the synthetic stand-in, not on {name}: "
                "set COURSE_DATA or run `lessons data fetch`"
            )
    passed = f"{run.passed} of {len(run.plans)} lessons passed in profile {profile}"
    click.echo(f"\n{passed}; notebooks and summary in {run.out}")
