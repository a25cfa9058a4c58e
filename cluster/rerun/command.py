"""`cluster rerun`: run submitted programs again, as jobs of an account that may read nothing."""

import secrets
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from autograder.commands.options import FILE, FOLDER, chosen_profile, profile_option
from autograder.safe_text import printable, shortened
from autograder.settings import rubric
from autograder.settings.roster import read_roster
from autograder.settings.rubric_schema import Profile, Rubric
from autograder.submissions.class_folder import Submission
from cluster.rerun import choose
from cluster.rerun.account import account_named, check_closed, check_course
from cluster.rerun.hand_in import NotRepeatableError, take
from cluster.rerun.job import Terms, keep, run_job
from cluster.schedulers import real_command
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site
from cluster.sites.use import PERSONAL


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """The options of `cluster rerun`, under the names that click gives them."""

    path: Path
    lesson: str
    user: str | None
    out: Path
    draw: int | None
    seed: int | None
    flagged: Path | None
    roster: Path | None
    site_name: str | None
    profile: Profile
    environment: str | None
    scratch: str | None
    minutes: int | None
    network: bool

    @property
    def several(self) -> bool:
        """Return whether several students of a class are chosen, rather than one named student."""
        return self.draw is not None or self.flagged is not None

    @property
    def group(self) -> Path:
        """Return the folder of the class."""
        return self.path.resolve() if self.several else self.path.resolve().parent


@click.command(
    "rerun",
    epilog="Exit code 0: all were run again; 1: some were not, and the output says why; 2: "
    "mistyped.",
)
@click.argument("path", metavar="CLASS[/STUDENT]", type=click.Path(path_type=Path))
@click.argument("lesson", metavar="NN")
@click.option("--as", "user", metavar="USER", help="The account that the jobs belong to.")
@click.option(
    "--out",
    type=FOLDER,
    default=Path("reruns"),
    show_default=True,
    help="Folder for the reruns (`reruns` in class.yaml).",
)
@click.option("--draw", type=click.IntRange(1), metavar="N", help="Draw N students at random.")
@click.option("--seed", type=int, help="Random seed; printed if you give none.")
@click.option(
    "--flagged",
    metavar="GRADES",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Rerun the students flagged in this output of `autograder grade`.",
)
@click.option("--roster", type=FILE, help="CSV: student, name, email, ids, as for grading.")
@click.option(
    "--site", "site_name", metavar="SITE", help="Submit to this site, not the one in use."
)
@profile_option
@click.option("--environment", help="Folder of a Python environment that USER can start.")
@click.option("--scratch", help="Folder for USER's jobs, seen by all nodes. Default: its home.")
@click.option(
    "--minutes", type=click.IntRange(1), help="Time limit of a job. Default: from its record."
)
@click.option(
    "--network",
    is_flag=True,
    help="Allow network access, which ranks on several nodes need. Files are then protected only "
    "by permissions.",
)
def rerun_command(**given: Any) -> None:
    """Run a student's submitted programs of lesson NN again, to compare them with the records.

    CLASS/STUDENT, or CLASS with --draw or --flagged. The jobs belong to an account that can read
    neither the class nor the grades, and run on one node without a network.
    """
    rules = rubric.load_rubric(rubric_file(given["lesson"]))
    profile = chosen_profile(given.pop("profile"), {rules.lesson: rules})
    options = RerunOptions(profile=profile, **given)
    submissions = submissions_of(options, rules.lesson)
    terms = terms_of(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl-C: the job is cancelled
    failed = 0
    for number, submission in enumerate(submissions, 1):
        click.echo(
            f"{number} of {len(submissions)}: {printable(submission.owner)}, lesson {rules.lesson}",
            err=True,
        )
        try:
            rerun_submission(submission, rules, options, terms)
        except (NotRepeatableError, click.ClickException) as reason:
            click.echo(f"  not run again: {printable(reason)}", err=True)
            failed += 1
    if failed < len(submissions):
        again = f"autograder grade {options.group} --set reruns={options.out} …"
        click.echo(f"Compare: {again}", err=True)
    if failed:
        raise SystemExit(1)


def submissions_of(options: RerunOptions, lesson: str) -> list[Submission]:
    path = options.path.resolve()
    if not options.several:
        return [choose.submission_at(path, lesson, read_roster(options.roster))]
    return chosen(choose.submissions_of(path, lesson), options, lesson)


def terms_of(options: RerunOptions) -> Terms:
    """Return the settings for all jobs. The account can read neither the class nor the grades."""
    site = site_files.current(options.site_name)
    if program := scheduler_of(site).SUBMIT_PROGRAM:
        real_command.need(program, site)
    account = account_named(options.user, handed_on(site, options.environment))
    options.out.mkdir(parents=True, exist_ok=True, mode=0o700)
    private = [options.group, options.out.resolve()]
    private += [options.flagged.resolve()] if options.flagged else []
    check_closed(account, *private)
    if not check_course(account) and not options.network:
        click.echo(
            "COURSE_DATA is not set: without a network, programs find only the synthetic stand-in",
            err=True,
        )
    seconds = options.minutes and 60 * options.minutes
    scratch = options.scratch or account.home
    return Terms(account, site, scratch, private, options.network, seconds)


def rerun_submission(
    submission: Submission, rules: Rubric, options: RerunOptions, terms: Terms
) -> None:
    taken = take(submission, rules, options.profile)
    ended = [run_job(terms, taken, job) for job in taken.jobs]
    folder = options.out / submission.owner / rules.lesson
    keep(folder, taken, terms, ended)
    states = ", ".join(f"job {one.job_id} {one.state}" for one in ended)
    click.echo(f"{printable(folder)}: {states}")


def rubric_file(lesson: str) -> Path:
    known = {file.stem: file for file in rubric.files_in(rubric.FOLDER)}
    number = lesson.split("_")[0].zfill(2)
    if number not in known:
        there = ", ".join(known)
        raise click.UsageError(f"there is no lesson {shortened(lesson)}; there are {there}")
    return known[number]


def chosen(submissions: list[Submission], options: RerunOptions, lesson: str) -> list[Submission]:
    """Return the flagged submissions, a random sample, or a random sample of the flagged ones."""
    if options.flagged is not None:
        names = choose.flagged(options.flagged, lesson)
        submissions = [one for one in submissions if not names.isdisjoint(one.students)]
    if options.draw is not None:
        seed = secrets.randbelow(10**6) if options.seed is None else options.seed
        submissions = choose.drawn(submissions, options.draw, seed)
        names_drawn = ", ".join(printable(one.owner) for one in submissions)
        click.echo(f"Drawn with --seed {seed}: {names_drawn or 'nobody'}", err=True)
    if not submissions:
        raise click.ClickException("there are no submissions to rerun")
    return submissions


def handed_on(site: Site, environment: str | None) -> dict[str, str]:
    """Return the variables that are passed to the account's jobs.

    These variables give the locations of the site file, the data and Python.
    """
    known = {name: site.variable(name) for name in PERSONAL.values()}
    known |= {name: text for name, text in site.exports.items() if name.startswith("SBATCH_")}
    known["COURSE_SITE"] = str(site_files.FOLDER / f"{site.name}.sh")
    if environment:
        known["COURSE_ENVIRONMENT"] = environment
    return {name: text for name, text in known.items() if text}
