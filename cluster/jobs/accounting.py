"""`cluster accounting`: export the jobs of a class, and of nobody else, for the grader."""

import os
from pathlib import Path

import click

from autograder.commands.options import FILE
from autograder.settings.class_file import read_class_file
from autograder.settings.roster import read_roster
from autograder.slurm_notation import SACCT_FORMAT
from cluster.schedulers import real_command

USER = SACCT_FORMAT.split(",").index("user")


@click.command(epilog="Exit code 0: exported; 1: sacct failed or shows no job; 2: wrong usage.")
@click.option("--class", "class_file", required=True, type=FILE, help="Names the roster.")
@click.option("--since", required=True, metavar="DATE", help="The first day, like 2026-10-01.")
def accounting_command(class_file: Path, since: str) -> None:
    """Print the accounting of the jobs of the roster's logins, and of no other account.

    Redirect it to a file, and name the file in class.yaml (`accounting: ../sacct.txt`). Slurm shows
    jobs of other accounts only to operators and to coordinators of their project.
    """
    people = read_roster(read_class_file(class_file).roster)
    logins = {person.login for person in people.values() if person.login}
    if not logins:
        raise click.UsageError(f"{class_file} names no roster with a column `login`")
    # An account that this machine does not have would be an error of sacct's.
    known = [login for login in logins if os.path.expanduser(f"~{login}") != f"~{login}"]
    words = ["sacct", "-D", "-P", f"--format={SACCT_FORMAT}", f"--starttime={since}"]
    words.append("--user=" + ",".join(sorted(known or logins)))
    done = real_command.run(words, {"SLURM_TIME_FORMAT": "%s"})  # seconds need no time zone
    lines, kept, own = done.stdout.splitlines(), list[str](), False
    for line in lines[1:]:
        user = [*line.split("|"), ""][USER]
        own = user in logins if user else own  # a step has no user, and follows its job
        kept += [line] if own else []
    if done.returncode or not kept:
        none = f"Slurm shows you no job of the roster's logins since {since}: are you an operator?"
        fault = real_command.complaint(done, "sacct failed" if done.returncode else none)
        raise click.ClickException(fault)
    click.echo("\n".join([lines[0], *kept]))
