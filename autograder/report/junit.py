"""Write a student's grades as JUnit XML, for CI.

A failure is caused by the student's work, and an error by the grader.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from autograder.safe_text import printable
from autograder.verdict import BORDERLINE, GRADER_ERROR, NOT_MEASURED, PASSED, Check, Grade
from autograder.wording import sentence


def document(student: str, grades: Sequence[Grade]) -> str:
    suites = Element("testsuites")
    for grade in grades:
        _add_suite(suites, student, grade)
    indent(suites, space="")
    text = tostring(suites, encoding="unicode", short_empty_elements=True)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_suite(suites: Element, student: str, grade: Grade) -> None:
    checks = [check for check in grade.checks if not check.hidden]
    broken = grade.status == GRADER_ERROR
    suite = SubElement(suites, "testsuite", name=printable(f"{student} {grade.lesson}"), time="0")
    properties = SubElement(suite, "properties")
    facts = {"score": grade.score, "max_score": grade.max_score, "evidence": grade.tier}
    for name, value in facts.items():
        text = "" if value is None else str(value)
        SubElement(properties, "property", name=name, value=text)
    group = printable(f"{student}.{grade.lesson}")
    for check in checks:
        _add_result(SubElement(suite, "testcase", classname=group, name=check.id, time="0"), check)
    if broken:
        case = SubElement(suite, "testcase", classname=group, name="grader", time="0")
        message = grade.findings[0].found if grade.findings else GRADER_ERROR
        SubElement(case, "error", message=message)
    suite.set("tests", str(len(checks) + broken))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))


def _add_result(case: Element, check: Check) -> None:
    if check.status == NOT_MEASURED:
        SubElement(case, "skipped", message=check.found)
    elif check.status not in (PASSED, BORDERLINE):
        places = " ".join(map(str, check.where))
        failure = SubElement(case, "failure", type=check.status, message=check.found)
        failure.text = (
            f"{check.title}\nexpected: {check.expected}\nfound: {check.found}\nwhere: {places}\n"
            f"try: {sentence(check.try_)}\n{check.score:g} of {check.points:g} points"
        )
