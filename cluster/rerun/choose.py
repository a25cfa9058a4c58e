"""Whose work is run again: who is named, who was flagged when graded, or who is drawn by lot."""

import json
import random
from pathlib import Path

import click

from autograder.submissions.students import NoSubmissionsError, Student, find_students


def students_at(path: Path, lesson: str) -> tuple[Path, list[Student], bool]:
    """The class's folder, its students, and whether `path` is only one of them."""
    try:
        beside = find_students([path.parent], lesson=lesson) if path.parent != path else []
        one = [student for student in beside if [p.resolve() for p in student.places] == [path]]
        if one:
            return path.parent, one, True
        students = find_students([path], lesson=lesson)
    except NoSubmissionsError as error:
        raise click.UsageError(str(error)) from None
    return path, students, len(students) == 1


def flagged(grades: Path, lesson: str) -> set[str]:
    """Students with a finding of evidence that a person should look at."""
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
    """By lot; the same class and seed give the same students."""
    in_order = sorted(students, key=lambda student: student.name)
    chosen = random.Random(seed).sample(in_order, min(number, len(in_order)))
    return sorted(chosen, key=lambda student: student.name)
