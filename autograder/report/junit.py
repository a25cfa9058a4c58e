"""Write a student's grades as JUnit XML, for CI.

A failure is caused by the student's work, and an error by the grader.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from autograder.safe_text import printable
from autograder.verdict import BORDERLINE, GRADER_ERROR, NOT_MEASURED, PASSED, Check, Grade
from autograder.wording import sentence


def document(student: str, grades: Sequence[Grade]) -> str:
    suites = "".join(_suite(student, grade) for grade in grades)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suites}</testsuites>\n'


def _suite(student: str, grade: Grade) -> str:
    checks = [c for c in grade.checks if not c.hidden]
    missed = sum(c.status not in (PASSED, BORDERLINE, NOT_MEASURED) for c in checks)
    skipped = sum(c.status == NOT_MEASURED for c in checks)
    broken = grade.status == GRADER_ERROR
    name = quoteattr(printable(f"{student} {grade.lesson}"))
    facts = {"score": grade.score, "max_score": grade.max_score, "evidence": grade.tier}
    properties = "".join(
        f'<property name="{key}" value={quoteattr("" if value is None else str(value))}/>'
        for key, value in facts.items()
    )
    cases = "".join(_case(student, grade, check) for check in checks)
    if broken:
        text = grade.findings[0].found if grade.findings else GRADER_ERROR
        cases += (
            _open(student, grade, "grader") + f"<error message={quoteattr(text)}/></testcase>\n"
        )
    return (
        f'<testsuite name={name} tests="{len(checks) + broken}" failures="{missed}" '
        f'errors="{int(broken)}" skipped="{skipped}" time="0">\n'
        f"<properties>{properties}</properties>\n{cases}</testsuite>\n"
    )


def _open(student: str, grade: Grade, name: str) -> str:
    group = quoteattr(printable(f"{student}.{grade.lesson}"))
    return f'<testcase classname={group} name={quoteattr(name)} time="0">'


def _case(student: str, grade: Grade, check: Check) -> str:
    start = _open(student, grade, check.id)
    if check.status in (PASSED, BORDERLINE):
        return start + "</testcase>\n"
    message = quoteattr(check.found)
    if check.status == NOT_MEASURED:
        return f"{start}<skipped message={message}/></testcase>\n"
    places = " ".join(f"{w.file}:{w.line}" for w in check.where)
    text = f"{check.title}\nexpected: {check.expected}\nfound: {check.found}\nwhere: {places}\n"
    text += f"try: {sentence(check.try_)}\n{check.score:g} of {check.points:g} points"
    kind = quoteattr(check.status)
    failure = f"<failure type={kind} message={message}>{escape(text)}</failure>"
    return f"{start}{failure}</testcase>\n"
