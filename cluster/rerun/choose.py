"""Whose work is run again: who is named, who was flagged when graded, or who is drawn by lot."""

import json
import random
from pathlib import Path

import click

from autograder.submissions.students import NoSubmissionsError, Student, find_students


def students_of(group: Path, lesson: str) -> list[Student]:
    try:
        return find_students([group], lesson=lesson)
    except NoSubmissionsError as error:
        raise click.UsageError(str(error)) from None


def student_at(path: Path, lesson: str) -> Student:
    """Whose place in the class this is, by the name that grading the class gives."""
    inside = students_of(path, lesson)
    if any(place.is_dir() and place != path for one in inside for place in one.places):
        raise click.UsageError(
            "this is a class: name CLASS/STUDENT, or --draw N students by lot, or --flagged GRADES"
        )
    for student in students_of(path.parent, lesson):
        if path in student.places:
            return Student(student.name, (path,), student.lesson)
    if len(inside) != 1:
        raise click.UsageError(f"{path} holds nothing that was handed in")
    return inside[0]


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
