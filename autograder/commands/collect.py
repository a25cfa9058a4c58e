"""`autograder collect`: turn a platform's download into a class that can be graded."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from autograder.collect.collect import Collected, Wanted, collect
from autograder.collect.groups import by_name, read_groups
from autograder.collect.platforms import DROP, PLATFORMS, read_worksheets
from autograder.commands.options import EXISTING, FILE, FOLDER, THERE, roster_option, rubrics_in
from autograder.commands.roll_call import against_roster, listed_lines, to_check
from autograder.settings.class_file import class_file_of, read_class_file
from autograder.settings.policy import lesson_meant
from autograder.settings.roster import Claim, Person, meant_by, read_roster, unused, who_is
from autograder.submissions.manifest import is_doubtful
from autograder.wording import counted


@click.command(
    epilog="Exit code 0: collected; 1: collected, but some rows are doubtful; 2: wrong usage, or a "
    "mistake in one of your files: nothing was collected."
)
@click.argument("downloads", nargs=-1, required=True, type=EXISTING)
@click.option(
    "--from", "platform", required=True, type=click.Choice([*PLATFORMS]), help="The platform."
)
@click.option("--into", type=FOLDER, required=True, help="The folder of the class.")
@click.option("--lesson", help="One lesson for all files. Default: detected per file.")
@click.option(
    "--class", "class_file", type=FILE, help="Settings. Default: class.yaml in --into, if any."
)
@roster_option
@click.option("--groups", type=FILE, help="CSV: group, student, lesson.")
@click.option(
    "--worksheet",
    type=FILE,
    multiple=True,
    help="Moodle's grading worksheet, with email addresses and submission times.",
)
@click.option("--rubrics", type=THERE, help="Folder of rubrics NN.yaml.")
def collect_command(
    class_file: Path | None, downloads: tuple[Path, ...], platform: str, into: Path, **options: Any
) -> None:
    """Turn a platform's DOWNLOADS, folders or zips, into CLASS/<student>/<lesson>/.

    CLASS/manifest.csv says who submitted each folder, and what you should check. Your edits stay
    when you collect again, and `autograder grade CLASS` follows them. If CLASS/class.yaml exists,
    its roster, groups, timezone and rubrics are used.
    """
    file = read_class_file(class_file or class_file_of(into))
    for name in ("roster", "groups", "rubrics"):
        options[name] = options[name] or getattr(file, name)
    if options["worksheet"] and platform != "moodle":
        raise click.UsageError("--worksheet takes Moodle's worksheet, so it needs --from moodle")
    check_outside(downloads, into)
    # All settings are read before anything is collected.
    people = read_roster(options["roster"])
    if platform == DROP and not any(person.login for person in people.values()):
        raise click.UsageError("--from drop needs a roster whose column `login` has the accounts")
    lessons = rubrics_in(options["rubrics"])
    together = read_groups(options["groups"], meant_by(people), people, lessons)
    wanted = Wanted(
        platform,
        lessons.keys(),
        who_is(people, by_name(together)),
        "" if options["lesson"] is None else lesson_meant(options["lesson"], lessons, "--lesson"),
        read_worksheets(options["worksheet"], file.timezone),
        together,
    )
    done = collect(downloads, into, wanted)
    for line in [*unused(options["roster"]), *report(done, into, people)]:
        click.echo(line)
    sys.exit(1 if any(map(is_doubtful, done.rows.values())) else 0)


def check_outside(downloads: Sequence[Path], into: Path) -> None:
    home = into.resolve()
    for download in downloads:
        place = download.resolve()
        if home.is_relative_to(place) or place.is_relative_to(home):
            raise click.UsageError(
                f"--into {into} is inside {download} or contains it: choose another folder"
            )


def report(done: Collected, into: Path, people: dict[str, Person]) -> list[str]:
    students = {student for row in done.new for student in row.owners}
    submissions = counted(len(done.new), "submission")
    lines = [f"{submissions} from {counted(len(students), 'student')} collected into {into}."]
    lines += listed_lines(
        ("Removed, because the submission that counts has no such files", done.removed),
        ("Edits that no longer apply, because the files were replaced", done.ended),
    )
    named = {name for row in done.rows.values() for name in row.owners}
    who = who_is(people, {})
    everybody = {student for name in named for student in who(Claim(name)) or (name,)}
    return [*lines, *against_roster(everybody, people), *to_check(done.rows, into, done.nobodys)]
