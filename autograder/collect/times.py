"""Read the `--times` file, which says when work was submitted if the platform does not."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from autograder.collect.groups import lesson_named
from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.claims import Claim, WhoIs
from autograder.settings.read_policy import read_moment, student_meant
from autograder.strict_csv import read_csv
from autograder.submissions.manifest import Row

Times = dict[tuple[str, str], str]  # student and lesson -> time


def read_times(path: Path | None, who: WhoIs, lessons: Collection[str]) -> Times:
    """Read the columns student, lesson and time."""
    times: Times = {}
    for where, row in read_csv(path, ["student", "lesson", "time"], []):
        student = student_meant(who(Claim(row["student"])), row["student"], where)
        key = student, lesson_named(row["lesson"], lessons, where)
        if key in times:
            raise SettingsError(
                f"{where}: {shortened(student)} has two times for lesson {key[1]}: remove one"
            )
        times[key] = read_moment(row["time"], where).isoformat()
    return times


def with_times(rows: Iterable[Row], times: Times) -> list[Row]:
    changed = []
    for row in rows:
        mine = [times[one, row.lesson] for one in row.owners if (one, row.lesson) in times]
        changed.append(replace(row, submitted=mine[0]) if mine else row)
    return changed
