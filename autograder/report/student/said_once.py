"""Join equal findings, problems and reasons of several lessons, runs or checks into one.

The joined entry names all places.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autograder.codes import ReasonCode
from autograder.records import Where
from autograder.verdict import PASSED, Check, Finding, Grade, Part, RunSummary

MOST_FOUND = 20  # most values shown for one finding
MOST_PLACES = 20


@dataclass(frozen=True, slots=True)
class Shared:
    """A finding that several lessons share."""

    finding: Finding
    lessons: tuple[str, ...]


def in_several_lessons(grades: Sequence[Grade]) -> list[Shared]:
    """Return findings that more than one lesson has, the most severe first."""
    by_what: dict[tuple, list[tuple[str, Finding]]] = {}
    for grade in grades:
        for finding in public(grade):
            by_what.setdefault(what(finding), []).append((grade.lesson, finding))
    shared = [
        Shared(joined([finding for _, finding in those]), lessons)
        for those in by_what.values()
        if len(lessons := tuple(dict.fromkeys(lesson for lesson, _ in those))) > 1
    ]
    return sorted(shared, key=lambda one: one.finding.code.rank)


def findings_of_lesson(grade: Grade, shared: Sequence[Shared]) -> list[Finding]:
    """Return a lesson's unshared findings, most severe first, with duplicates merged."""
    elsewhere = {what(other.finding) for other in shared if grade.lesson in other.lessons}
    by_what: dict[tuple, list[Finding]] = {}
    for finding in public(grade):
        if what(finding) not in elsewhere:
            by_what.setdefault(what(finding), []).append(finding)
    return [joined(those) for those in by_what.values()]


def public(grade: Grade) -> list[Finding]:
    seen = (finding for finding in grade.findings if not finding.private)
    return sorted(seen, key=lambda finding: finding.code.rank)


def what(finding: Finding) -> tuple:
    return finding.title, finding.expected, finding.try_


def joined(findings: Sequence[Finding]) -> Finding:
    if len(findings) == 1:
        return findings[0]
    texts = list(dict.fromkeys(f.found for f in findings if f.found))
    return replace(
        findings[0],
        found="; ".join(texts[:MOST_FOUND]) + (" …" if len(texts) > MOST_FOUND else ""),
        where=places(where for finding in findings for where in finding.where),
    )


def adjusted_alike(grades: Sequence[Grade]) -> dict[str, tuple[str, ...]]:
    """Return each adjustment that several lessons share, with those lessons."""
    by_line: dict[str, list[str]] = {}
    for grade in grades:
        for line in adjustments(grade):
            by_line.setdefault(line, []).append(grade.lesson)
    return {line: tuple(lessons) for line, lessons in by_line.items() if len(lessons) > 1}


def adjustments(grade: Grade) -> list[str]:
    """Return the adjustments, except those of single checks, which are shown with the checks."""
    by_hand = {f"{c.id}: {c.by_hand}" for c in grade.checks if c.by_hand and not c.hidden}
    return [line for line in grade.adjustments if line not in by_hand]


def places(all_: Iterable[Where]) -> tuple[Where, ...]:
    return tuple(dict.fromkeys(all_))[:MOST_PLACES]


def problems(runs: Sequence[RunSummary]) -> list[tuple[str, str, str, tuple[Where, ...]]]:
    """Return each problem in the outputs, with its runs, title, text and places."""
    by_what: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for run in runs:
        for problem in run.problems:
            by_what.setdefault((problem.title, problem.found), []).append((run.name, problem))
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
    merged: dict[tuple, list[Part]] = {}
    for part in check.parts:
        if part.status != PASSED:
            merged.setdefault((part.found, part.where, part.try_), []).append(part)
    return [
        replace(parts[0], expected="; ".join(dict.fromkeys(p.expected for p in parts)))
        for parts in merged.values()
    ]


def reasons_in(grade: Grade) -> dict[str, list[Part]]:
    """Return the reasons by check. Advice that an earlier check already gives is not repeated."""
    stated: set[tuple] = set()
    reasons_of = {}
    for check in grade.checks:
        if check.hidden or check.status == PASSED:
            continue
        several = len(check.parts) > 1
        parts = reasons(check) if several else [as_part(check)]
        # If no part has advice, the check's advice is used.
        silent = several and check.try_ and not any(part.try_ for part in check.parts)
        parts += [replace(as_part(check), expected="", found="", where=())] if silent else []
        mine = []
        for part in parts:
            key = part.found, part.where, part.try_
            again = bool(part.found and part.try_) and key in stated
            stated.add(key)
            mine.append(replace(part, where=(), try_="as above") if again else part)
        reasons_of[check.id] = mine
    return reasons_of


def as_part(check: Check) -> Part:
    code = check.parts[0].code if check.parts else ReasonCode.VALUE
    texts = (check.expected, check.found, check.where, check.try_)
    return Part(check.id, check.status, 0, *texts, code=code)
