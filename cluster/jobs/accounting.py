"""`cluster accounting`: export the jobs of a class, and of nobody else, for the grader."""

import pwd
from pathlib import Path

import click

from autograder.settings.class_file import read_class_file
from autograder.settings.roster import read_roster
from autograder.slurm_notation import SACCT_FORMAT
from cluster.schedulers import real_command

USER = SACCT_FORMAT.split(",").index("user")


@click.command(
    "accounting",
    epilog="Exit code 0: exported; 1: Slurm shows no job of these accounts; 2: wrong usage.",
)
@click.option(
    "--class",
    "class_file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The class.yaml that names the roster.",
)
@click.option("--since", required=True, metavar="DATE", help="The first day, like 2026-10-01.")
def accounting_command(class_file: Path, since: str) -> None:
    """Print the accounting of the jobs of the roster's logins, and of no other account.

    Redirect it to a file, and name the file in class.yaml (`accounting: ../sacct.txt`). Slurm shows
    jobs of other accounts only to operators and to coordinators of their project.
    """
    people = read_roster(read_class_file(class_file).given.get("roster"))
    logins = {person.login for person in people.values() if person.login}
    if not logins:
        raise click.UsageError(f"{class_file} names no roster with a column `login`")
    unknown = {login for login in logins if not has_account(login)}
    if unknown:
        click.echo(f"No account on this machine: {', '.join(sorted(unknown))}", err=True)
    users = ",".join(sorted(logins - unknown))
    words = ["sacct", "-D", "-P", f"--user={users}", f"--starttime={since}"]
    done = real_command.run([*words, f"--format={SACCT_FORMAT}"]) if users else None
    if done is None or done.returncode:
        why = "no login of the roster has an account here"
        raise click.ClickException(real_command.complaint(done, "sacct failed") if done else why)
    header, *lines = done.stdout.splitlines() or [""]
    # A step has no user, and follows its job.
    kept, own = [], False
    for line in lines:
        user = [*line.split("|"), "", ""][USER]
        own = user in logins if user else own
        kept += [line] if own else []
    if not kept:
        raise click.ClickException(f"Slurm shows no job of {users} since {since}")
    click.echo("\n".join([header, *kept]))


def has_account(login: str) -> bool:
    try:
        return bool(pwd.getpwnam(login))
    except KeyError:
        return False
