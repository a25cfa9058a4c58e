"""Join equal findings, problems and reasons of several lessons, runs or checks into one.

The joined entry names all places.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from autograder.codes import ReasonCode
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.records import Where
from autograder.verdict import PASSED, WAITS, Check, Grade, Part, RunSummary

MOST_FOUND = 20  # most values shown for one finding
MOST_PLACES = 20


# A note for the student, all lessons that have it, and the position of its grade on the page if
# only one lesson has it.
Remark = tuple[Note, tuple[str, ...], int | None]


def remarks(grades: Iterable[Grade]) -> list[Remark]:
    """Return the findings for the student, most severe first. Findings on several runs are joined.

    Two findings are joined if they differ only in what was found and where. Findings about two
    submissions without a lesson are not joined.
    """
    by_what = grouped(
        ((finding.title, finding.expected, finding.advice), (position, grade.lesson, finding))
        for position, grade in enumerate(grades)
        for finding in grade.findings
        if not finding.private
    )
    found: list[Remark] = []
    for those in by_what.values():
        lessons = tuple(dict.fromkeys(lesson for _, lesson, _ in those))
        if len(lessons) > 1:
            found.append((joined([finding for *_, finding in those]), lessons, None))
            continue
        by_position = grouped((position, finding) for position, _, finding in those)
        found += [(joined(mine), lessons, at) for at, mine in by_position.items()]
    return sorted(found, key=lambda remark: remark[0].code.rank)


def joined(findings: Sequence[Note]) -> Note:
    if len(findings) == 1:
        return findings[0]
    texts = list(dict.fromkeys(f.actual for f in findings if f.actual))
    return replace(
        findings[0],
        actual="; ".join(texts[:MOST_FOUND]) + (" …" if len(texts) > MOST_FOUND else ""),
        where=places(where for finding in findings for where in finding.where),
    )


def adjusted_alike(grades: Sequence[Grade]) -> dict[str, list[str]]:
    """Return each adjustment that several lessons share, with those lessons."""
    by_line = grouped((line, grade.lesson) for grade in grades for line in adjustments(grade))
    return {line: lessons for line, lessons in by_line.items() if len(lessons) > 1}


def adjustments(grade: Grade) -> list[str]:
    """Return the adjustments, except those of single checks, which are shown with the checks."""
    by_hand = {f"{c.id}: {c.by_hand}" for c in grade.checks if c.by_hand and not c.hidden}
    return [line for line in grade.adjustments if line not in by_hand]


def places(all_: Iterable[Where]) -> tuple[Where, ...]:
    return tuple(dict.fromkeys(all_))[:MOST_PLACES]


def problems(runs: Sequence[RunSummary]) -> list[tuple[str, str, str, tuple[Where, ...]]]:
    """Return each problem in the outputs, with its runs, title, text and places."""
    by_what = grouped(
        ((one.title, one.actual), (run.name, one)) for run in runs for one in run.problems
    )
    return [
        (
            ", ".join(dict.fromkeys(name for name, _ in those)),
            title,
            text,
            places(where for _, problem in those for where in problem.where),
        )
        for (title, text), those in by_what.items()
    ]


# --- why points are missing -------------------------------------------------------------------


def reasons(check: Check) -> list[Part]:
    """Return the reasons why points are missing, with identical reasons merged."""
    if len(check.parts) < 2 and check.status != WAITS:
        return [as_part(check)]
    missed = (part for part in check.parts if part.status != PASSED)
    merged = [
        replace(parts[0], expected="; ".join(dict.fromkeys(p.expected for p in parts)))
        for parts in grouped((key_of(part), part) for part in missed).values()
    ]
    if check.advice and check.status != WAITS and not any(part.advice for part in check.parts):
        merged.append(replace(as_part(check), expected="", actual="", where=()))
    return merged


def key_of(part: Part) -> tuple:
    return part.actual, part.where, part.advice


def reasons_in(grade: Grade) -> dict[str, list[Part]]:
    """Return the reasons by check. Advice that an earlier check already gives is not repeated."""
    stated: set[tuple] = set()
    reasons_of = {}
    for check in grade.checks:
        if check.hidden or check.status == PASSED:
            continue
        parts = reasons(check)
        reasons_of[check.id] = [
            replace(part, where=(), advice="as above")
            if part.actual and part.advice and key_of(part) in stated
            else part
            for part in parts
        ]
        stated.update(map(key_of, parts))
    return reasons_of


def as_part(check: Check) -> Part:
    code = check.parts[0].code if check.parts else ReasonCode.VALUE
    texts = (check.expected, check.actual, check.where, check.advice)
    return Part(check.id, check.status, 0, *texts, code=code)
