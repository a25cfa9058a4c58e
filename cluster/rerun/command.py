"""`cluster rerun`: run submitted programs again, as jobs of an account that may read nothing."""

import json
import random
import secrets
import signal
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from autograder.commands.options import (
    FOLDER,
    chosen_profile,
    profile_option,
    rubrics_in,
    with_options,
)
from autograder.safe_text import printable, shortened
from autograder.settings.class_file import class_file_of, read_class_file
from autograder.settings.roster import meant_by, read_roster
from autograder.submissions.class_folder import Submission, read_class
from autograder.submissions.kinds import lesson_among
from cluster.rerun.account import SITE_PYTHON, Account, account_named, check_closed, check_course
from cluster.rerun.repeated import Job, Programs, take
from cluster.schedulers import real_command
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.use import PERSONAL


@click.command(
    "rerun", epilog="Exit code 0: all were run again; 1: some were not, see above; 2: wrong usage."
)
@click.argument("path", metavar="CLASS[/STUDENT]", type=click.Path(path_type=Path))
@click.argument("lesson", metavar="NN")
@click.option("--as", "user", required=True, metavar="USER", help="The account of the jobs.")
@click.option(
    "--out", type=FOLDER, default="reruns", show_default=True, help="`reruns` in class.yaml."
)
@click.option("--draw", type=click.IntRange(1), metavar="N", help="Draw N students at random.")
@click.option("--seed", type=int, help="Random seed; printed if you give none.")
@profile_option
def rerun_command(
    path: Path, lesson: str, user: str, out: Path, draw: int | None, seed: int | None, **more: Any
) -> None:
    """Run a student's submitted programs of lesson NN again.

    CLASS/STUDENT, or CLASS with --draw. The class's class.yaml gives the profile and the roster.
    The jobs run on one node without a network, as an account that cannot read class or grades.
    """
    group = path.resolve() if draw else path.resolve().parent
    file = with_options(read_class_file(class_file_of(group)), more)
    known = rubrics_in(file.rubrics)
    number = lesson_among(lesson, known)
    if not number:
        raise click.UsageError(f"there is no lesson {shortened(lesson)}; see: {', '.join(known)}")
    submissions = read_class(group, known, meant_by(read_roster(file.roster)))
    size = chosen_profile(file.profile, {number: known[number]})
    chosen = [each for each in submissions if each.lesson == number]
    if draw:
        chosen = drawn(chosen, draw, secrets.randbelow(10**6) if seed is None else seed)
    else:
        name = path.resolve().name  # of a student, or of a group's folder
        chosen = [each for each in chosen if name in (each.owner, *each.students)][:1]
        if not chosen:
            said = f"{shortened(name)} submitted nothing for lesson {number}"
            raise click.UsageError(f"{said}. Name CLASS/STUDENT, or CLASS with --draw N")
    private = [group, out.resolve()]
    account = rerun_account(user, private)
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = 0
    for place, submission in enumerate(chosen, 1):
        who = printable(submission.owner)
        click.echo(f"{place} of {len(chosen)}: {who}, lesson {number}", err=True)
        try:
            programs, jobs = take(submission, known[number], size)
            ended = [run_again(account, private, programs, job) for job in jobs]
            keep(out / submission.owner / number, submission.owner, number, ended)
        except click.ClickException as reason:
            click.echo(f"  not run again: {printable(reason.message)}", err=True)
            failed += 1
    if failed < len(chosen):
        click.echo(f"Compare: autograder grade {group} --set reruns={out} …", err=True)
    sys.exit(bool(failed))


def drawn(submissions: list[Submission], number: int, seed: int) -> list[Submission]:
    """Return a random draw of submissions. The same class and seed give the same draw."""
    if not submissions:
        raise click.ClickException("there are no submissions to run again")
    in_order = sorted(submissions, key=attrgetter("owner"))
    chosen = random.Random(seed).sample(in_order, min(number, len(in_order)))
    chosen.sort(key=attrgetter("owner"))
    names = ", ".join(printable(each.owner) for each in chosen)
    click.echo(f"Drawn with --seed {seed}: {names}", err=True)
    return chosen


def rerun_account(user: str, private: list[Path]) -> Account:
    """Return the jobs' account, after checking what it can reach."""
    site = site_files.current()
    if program := scheduler_of(site).SUBMIT_PROGRAM:
        real_command.need(program, site)
    # The account's jobs get the site's file, data, Python and account, and no other variables.
    known = {name: site.variable(name) for name in PERSONAL.values()}
    known |= {name: text for name, text in site.exports.items() if name.startswith("SBATCH_")}
    known["COURSE_SITE"] = str(site_files.FOLDER / f"{site.name}.sh")
    account = account_named(user, {name: text for name, text in known.items() if text})
    check_closed(account, *private)
    check_course(account)
    if "COURSE_DATA" not in account.variables:
        click.echo("COURSE_DATA is not set: programs find only the synthetic stand-in", err=True)
    return account


def run_again(account: Account, hide: list[Path], programs: Programs, job: Job) -> dict[str, Any]:
    """Run one job. `hide` are folders that no program may see, whatever their permissions."""
    texts = {name: text.decode("latin-1") for name, text in programs.items()}
    request = {"job": job, "programs": texts, "variables": account.variables}
    data = json.dumps(request | {"hide": list(map(str, hide))}).encode()
    done = account.run(*SITE_PYTHON, "-m", "cluster.rerun.one_job", data=data, show=True)
    if done.returncode:
        raise click.ClickException("the job did not run; the reason is above")
    return json.loads(done.stdout.splitlines()[-1]) | {"launches": job["launches"]}


def keep(folder: Path, student: str, lesson: str, ended: list[dict[str, Any]]) -> None:
    """Write RERUNS/STUDENT/NN: the outputs, and what the grader needs to know about the jobs."""
    outputs = folder / "outputs"
    outputs.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in outputs.iterdir():
        old.unlink()
    for number, job in enumerate(ended, 1):
        job["files"] = [f"rerun_{number}.{end}" for end in ("out", "err")]
        for name in job["files"]:
            (outputs / name).write_bytes(job.pop(name[-3:]).encode("latin-1"))
    facts = {"student": student, "lesson": lesson, "jobs": ended}
    (folder / "rerun.json").write_text(json.dumps(facts, indent=1) + "\n")
