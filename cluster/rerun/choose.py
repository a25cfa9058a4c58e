"""Choose whose submissions are run again: named students, flagged students, or a random draw."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import click

from autograder.safe_text import shortened
from autograder.settings import rubric
from autograder.settings.claims import Claim, plain, who_is
from autograder.settings.roster import Person
from autograder.submissions.class_folder import Submission, read_class

People = Mapping[str, Person]  # from the roster


def submissions_of(group: Path, lesson: str) -> list[Submission]:
    """Return the submissions of a lesson, as `autograder grade` finds them."""
    lessons = [file.stem for file in rubric.files_in(rubric.FOLDER)]
    return [one for one in read_class(group, lessons) if one.lesson == lesson]


def submission_at(path: Path, lesson: str, people: People) -> Submission:
    """Return the submission of CLASS/STUDENT. STUDENT may be any form that the roster has."""
    if not path.parent.is_dir():
        raise click.UsageError(f"{shortened(path.parent)} does not exist: name CLASS/STUDENT")
    there = {name: one for one in submissions_of(path.parent, lesson) for name in names_in(one)}
    if path.name in there:
        return there[path.name]
    if len(path.name) < 256 and path.is_dir() and submissions_of(path, lesson):
        raise click.UsageError(
            "this folder is a class: name CLASS/STUDENT, or use --draw N or --flagged GRADES"
        )
    known = who_is(people, {})(Claim(path.name)).students
    found = [one for one in there if one in known or plain(one) == plain(path.name)]
    if len(found) != 1:
        or_whom = f"; it may be {', '.join(sorted(found))}" if found else ""
        raise click.UsageError(
            f"{shortened(path.name)} submitted nothing for lesson {lesson} in {path.parent}: there "
            f"is no such folder, and no student there has that name{or_whom}"
        )
    return there[found[0]]


def names_in(submission: Submission) -> tuple[str, ...]:
    return (submission.owner, *submission.students)


def flagged(grades: Path, lesson: str) -> set[str]:
    """Return the students whose evidence has a finding that a person should look at."""
    records = sorted((grades / "records").glob("*.json"))
    if not records:
        raise click.UsageError(f"{grades} holds no records: name the folder of `grade --out`")
    found = set()
    for record in records:
        try:
            of_lesson = [
                one for one in json.loads(record.read_text())["grades"] if one["lesson"] == lesson
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise click.UsageError(f"{record} cannot be read ({error}): grade again") from None
        for grade in of_lesson:
            if any(f["kind"] == "evidence" and f["look"] for f in grade["findings"]):
                found.add(grade["student"])
    return found


def drawn(submissions: list[Submission], number: int, seed: int) -> list[Submission]:
    """Return a random draw of submissions. The same class and seed give the same draw."""
    in_order = sorted(submissions, key=lambda one: one.owner)
    chosen = random.Random(seed).sample(in_order, min(number, len(in_order)))
    return sorted(chosen, key=lambda one: one.owner)
