"""Whose work is run again: named students, those flagged when graded, or a random draw."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from autograder.safe_text import shortened
from autograder.settings.known_as import asked_for, names_of, who_is
from autograder.settings.roster import Person
from autograder.submissions.claims import nobody, plain
from autograder.submissions.students import (
    NoSubmissionsError,
    Student,
    check_there,
    find_students,
)

People = Mapping[str, Person]  # of the roster


def students_of(group: Path, lesson: str, people: People) -> list[Student]:
    """Return the students of a class as `autograder grade` finds and names them."""
    try:
        return find_students([group], lesson=lesson, who=who_is(people, {}) if people else nobody)
    except NoSubmissionsError as error:
        raise click.UsageError(str(error)) from None


def student_at(path: Path, lesson: str, people: People) -> Student:
    """Return the student with this folder in the class, or with this name in any form that the
    roster has."""
    try:
        check_there([path])
    except NoSubmissionsError as error:
        return student_called(path, lesson, people, f"{error}")
    inside = students_of(path, lesson, people)
    if any(place.is_dir() and place != path for one in inside for place in one.places):
        raise click.UsageError(
            "this is a class: name CLASS/STUDENT, or use --draw N or --flagged GRADES"
        )
    for student in students_of(path.parent, lesson, people):
        if path in student.places:
            return replace(student, places=(path,))
    if len(inside) != 1:
        raise click.UsageError(f"{path} contains no submission")
    return inside[0]


def student_called(path: Path, lesson: str, people: People, why: str) -> Student:
    """Return everything that a student without a folder of their own submitted."""
    if not path.parent.is_dir():
        raise click.UsageError(why)
    there = {one.name: one for one in students_of(path.parent, lesson, people)}
    known = names_of(people)
    names = {one: [*known.get(one, ()), one.casefold(), plain(one)] for one in there}
    found = asked_for(names, path.name)
    if len(found) != 1:
        or_whom = f"; it may be {', '.join(sorted(found))}" if found else ""
        raise click.UsageError(
            f"{shortened(path.name)} submitted nothing in {path.parent}: there is no such folder, "
            f"and no student there has that name{or_whom}"
        )
    return there[found[0]]


def flagged(grades: Path, lesson: str) -> set[str]:
    """Return the students with a finding of evidence that a person should look at."""
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


def drawn(students: list[Student], number: int, seed: int) -> list[Student]:
    """Return a random draw of students; the same class and seed give the same students."""
    in_order = sorted(students, key=lambda student: student.name)
    chosen = random.Random(seed).sample(in_order, min(number, len(in_order)))
    return sorted(chosen, key=lambda student: student.name)
