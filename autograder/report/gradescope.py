"""Write Gradescope's results.json for one student."""

import json
from collections.abc import Sequence
from typing import Any

from autograder.notes import Note
from autograder.report.student.next_steps import for_student
from autograder.verdict import GRADER_ERROR, PASSED, WAITS, Check, Grade
from autograder.wording import sentence

VISIBLE = {"output_format": "text", "visibility": "visible"}


def document(grades: Sequence[Grade]) -> str:
    tests = [
        as_test(check, f"{int(grade.lesson) if grade.lesson.isdigit() else 0}.{number}")
        for grade in grades
        for number, check in enumerate(grade.checks, start=1)
    ]
    output = [note(f) for grade in grades for f in grade.findings if not f.private]
    output += [line for grade in grades for line in grade.adjustments]
    levels = {grade.lesson: {"evidence": grade.tier} for grade in grades}
    result: dict[str, Any] = {"output": "\n".join(output), **VISIBLE, "tests": tests}
    result |= {"stdout_visibility": "hidden", "extra_data": levels}
    # Without a score, Gradescope shows that the autograder failed.
    if not any(grade.status == GRADER_ERROR for grade in grades):
        result["score"] = round(sum(grade.score or 0.0 for grade in grades), 2)
    return json.dumps(result, ensure_ascii=False, indent=1) + "\n"


def as_test(check: Check, number: str) -> dict[str, Any]:
    """Return a check as Gradescope's test, with points unless it waits for the instructor."""
    state, places = "" if check.decided else check.status, ", ".join(map(str, check.where))
    facts = {"status": state, "expected": check.expected, "found": check.actual, "where": places}
    facts |= {"try": sentence(check.advice), "answer": check.by_hand}
    passed = check.status == PASSED
    output = check.by_hand or check.actual if passed else "\n".join(named(facts))
    result = {"name": check.title, "number": number, "output": output, **VISIBLE}
    if check.status == WAITS:
        return result
    outcome = "passed" if check.score >= check.points else "failed"
    return result | {"score": check.score, "max_score": check.points, "status": outcome}


def note(finding: Note) -> str:
    """Return the text of a finding, without advice for the instructor."""
    advice = sentence(for_student(finding))
    facts = {"Expected": finding.expected, "Found": finding.actual, "Try": advice}
    return ". ".join([finding.title, *named(facts)])


def named(facts: dict[str, str]) -> list[str]:
    return [f"{name}: {text}" for name, text in facts.items() if text]
