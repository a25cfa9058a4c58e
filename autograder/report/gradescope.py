"""Write Gradescope's results.json for one student.

Hidden checks count in the total and are not listed, because one hidden test would hide the whole
total from the student.
"""

import json
from collections.abc import Sequence
from typing import Any

from autograder.report.student.next_steps import for_student
from autograder.verdict import GRADER_ERROR, PASSED, WAITS, Finding, Grade
from autograder.wording import sentence


def document(grades: Sequence[Grade]) -> str:
    broken = any(g.status == GRADER_ERROR for g in grades)
    tests = []
    for grade in grades:
        visible = [c for c in grade.checks if not c.hidden]
        for number, check in enumerate(visible, start=1):
            lines = [check.by_hand or check.found]
            if check.status != PASSED:
                places = ", ".join(map(str, check.where))
                parts = {
                    "status": "" if check.decided else check.status,
                    "expected": check.expected,
                    "found": check.found,
                    "where": places,
                    "try": sentence(check.try_),
                    "answer": check.by_hand,
                }
                lines = [f"{name}: {text}" for name, text in parts.items() if text]
            worth = {
                "score": check.score,
                "max_score": check.points,
                "status": "passed" if check.score >= check.points else "failed",
            }
            tests.append(
                {
                    "name": check.title,
                    "number": f"{int(grade.lesson) if grade.lesson.isdigit() else 0}.{number}",
                    **({} if check.status == WAITS else worth),
                    "output": "\n".join(lines),
                    "output_format": "text",
                    "visibility": "visible",
                }
            )
    findings = [f for g in grades for f in g.findings if not f.private]
    notes = [note(f) for f in findings]
    notes += [line for g in grades for line in g.adjustments]
    result: dict[str, Any] = {
        "output": "\n".join(notes),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {g.lesson: {"evidence": g.tier} for g in grades},
    }
    if not broken:  # without a score, Gradescope shows that the autograder failed
        result["score"] = round(sum((g.score or 0.0 for g in grades), 0.0), 2)
    return json.dumps(result, ensure_ascii=False, indent=1) + "\n"


def note(finding: Finding) -> str:
    """Return the text of a finding, without advice for the instructor."""
    advice = sentence(for_student(finding))
    parts = {"Expected": finding.expected, "Found": finding.found, "Try": advice}
    lines = [f"{name}: {text}" for name, text in parts.items() if text]
    return ". ".join([finding.title, *lines])
