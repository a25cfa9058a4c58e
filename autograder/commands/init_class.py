"""`autograder init-class`: write a class.yaml with every field and a comment."""

from pathlib import Path

import click

from autograder.commands.options import FOLDER
from autograder.safe_text import shortened
from autograder.settings.class_file import NAME
from autograder.writing import write_if_new

TEXT = """\
# What this class is graded by. Remove the # of a line to use it.
# Paths are relative to this file. docs/class-settings.md describes every field.

# title: Deep Learning on Supercomputers, winter 2026    # of all pages
# profile: smoke            # smoke: thresholds for two CPU cores; full: for GPU nodes.
#                             You have to choose if a rubric has both, as the course's have.
# rubrics: rubrics          # a folder; without it, the course's own rubrics
# expected: answers         # a folder of expected answers; default: expected/ in rubrics
# released: released        # a folder of programs as released; default: released/ in rubrics

# Who is in the class
# roster: ../roster.csv     # student, and name, email, ids of platforms, account on the cluster
# groups: ../groups.csv     # group, student, lesson
# timezone: Europe/Berlin   # of Moodle's worksheets

# Rules
# late:
#   due:
#     02: 2026-11-02T23:59+01:00
#   free_days: 3            # late days without a penalty, per student, over all lessons
#   penalty_a_day: 10%      # of a lesson's points, for each further day
#   latest_days: 7          # a later submission gets no points
#   drop_lowest: 1          # lessons that do not count
# extensions: ../extensions.csv # student, lesson, days, reason
# overrides: ../overrides.csv   # student, lesson, check, points, reason
# regrades: ../regrades.csv     # student, lesson, check, says

# Evidence
# accounting: ../sacct.txt  # the scheduler's accounting, exported by you
# calibration: ../site.yaml # what `autograder calibrate` wrote for your site
# reruns: ../reruns         # the folder that `cluster rerun` wrote

# Files to make
# leaderboard: ../leaderboard.csv # student, pseudonym: who wants to be on it
# canvas: ../gradebook.csv      # an export of Canvas's gradebook, to fill in
# moodle: [../02-worksheet.csv] # worksheets of Moodle, to fill in
# junit: true                   # also one JUnit file per student
"""


@click.command()
@click.argument("folder", metavar="CLASS", type=FOLDER)
def init_class_command(folder: Path) -> None:
    """Write CLASS/class.yaml, in which every field is explained and commented out."""
    path = folder / NAME
    if path.exists():
        raise click.UsageError(f"{shortened(str(path))} exists already: edit it")
    folder.mkdir(parents=True, exist_ok=True)
    write_if_new(path, TEXT)
    click.echo(f"Written: {path}")
