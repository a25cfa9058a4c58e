"""Join equal findings, problems and reasons of several lessons, runs or checks into one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from autograder.codes import ReasonCode
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.report.student.next_steps import lesson_number
from autograder.verdict import PASSED, WAITS, Check, Grade, Part, RunSummary

MOST = 20  # values or places of a joined finding
# A note for the student, all lessons that have it, and the position of its grade on the page if
# only one lesson has it.
Remark = tuple[Note, Sequence[str], int | None]


def remarks(grades: Iterable[Grade]) -> list[Remark]:
    """Return the findings for the student, most severe first.

    Two findings are joined if they differ only in what was found and where. Findings about two
    submissions without a lesson are not joined.
    """
    equal = grouped(
        (
            (note.title, note.expected, note.advice, lesson_number(grade) == "" and position),
            (note, grade.lesson, position),
        )
        for position, grade in enumerate(grades)
        for note in grade.findings
        if not note.private
    )
    joined_notes: list[Remark] = []
    for found in equal.values():
        notes, lessons, positions = zip(*found, strict=True)
        lessons = tuple(dict.fromkeys(lessons))
        joined_notes.append((joined(notes), lessons, None if lessons[1:] else positions[0]))
    return sorted(joined_notes, key=lambda remark: remark[0].code.rank)


def joined(notes: Sequence[Note]) -> Note:
    texts = list(dict.fromkeys(note.actual for note in notes if note.actual))
    actual = "; ".join(texts[:MOST]) + (" …" if len(texts) > MOST else "")
    places = dict.fromkeys(place for note in notes for place in note.where)
    return replace(notes[0], actual=actual, where=tuple(places)[:MOST])


def problems(runs: Iterable[RunSummary]) -> list[tuple[str, Note]]:
    """Return each problem in the outputs, with the names of its runs."""
    equal = grouped(
        ((note.title, note.actual), (run.name, note)) for run in runs for note in run.problems
    )
    return [
        (", ".join(dict.fromkeys(name for name, _ in found)), joined([note for _, note in found]))
        for found in equal.values()
    ]


def adjustments(grade: Grade) -> list[str]:
    """Return the adjustments, except those of single checks, which are shown with the checks."""
    by_hand = {f"{c.id}: {c.by_hand}" for c in grade.checks if c.by_hand}
    return [line for line in grade.adjustments if line not in by_hand]


# --- why points are missing -------------------------------------------------------------------


def reasons(check: Check) -> list[Part]:
    """Return the reasons why points are missing, with identical reasons merged."""
    if len(check.parts) < 2 and check.status != WAITS:
        return [as_part(check)]
    equal = grouped((key_of(part), part) for part in check.parts if part.status != PASSED)
    merged = [
        replace(parts[0], expected="; ".join(dict.fromkeys(p.expected for p in parts)))
        for parts in equal.values()
    ]
    if check.advice and check.status != WAITS and not any(part.advice for part in check.parts):
        merged.append(replace(as_part(check), expected="", actual="", where=()))
    return merged


def key_of(part: Part) -> tuple:
    return part.actual, part.where, part.advice


def reasons_in(grade: Grade) -> dict[str, list[Part]]:
    """Return the reasons by check. Advice that an earlier check already gives is not repeated."""
    stated: set[tuple] = set()
    by_check = {}
    for check in grade.checks:
        if check.status != PASSED:
            parts = reasons(check)
            by_check[check.id] = [
                replace(part, where=(), advice="as above")
                if part.actual and part.advice and key_of(part) in stated
                else part
                for part in parts
            ]
            stated.update(map(key_of, parts))
    return by_check


def as_part(check: Check) -> Part:
    code = check.parts[0].code if check.parts else ReasonCode.VALUE
    texts = (check.expected, check.actual, check.where, check.advice)
    return Part(check.id, check.status, 0, *texts, code=code)
