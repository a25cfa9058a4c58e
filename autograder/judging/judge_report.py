"""Judge whether a student's report has the headings that a rubric asks for."""

from collections.abc import Sequence

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.records import Where
from autograder.verdict import FAILED, PASSED, Part

NO_REPORT = "no report.md was submitted"


def judge_report(hand_in: HandIn, headings: Sequence[str]) -> tuple[Part, ...]:
    """Return one check part for each heading that the rubric requires."""
    return tuple(judge_part(hand_in, title) for title in headings)


def judge_part(hand_in: HandIn, title: str) -> Part:
    name, report = f"the report's part “{title}”", hand_in.report
    status, where, found, code = FAILED, None, NO_REPORT, ReasonCode.NO_REPORT
    if report is not None:
        text, where = report.parts.get(title.casefold(), (None, Where(report.name, 0)))
        if text is None:
            found, code = f"no heading `## {title}`", ReasonCode.NO_HEADING
        elif not text:
            found, code = f"nothing below `## {title}`", ReasonCode.TEXT
        else:
            status, found, code = PASSED, f"{name} is there", ReasonCode.TEXT
    places = (where,) if where else ()
    try_ = "" if status == PASSED else f"write a part `## {title}` in report.md"
    credit = float(status == PASSED)
    return Part(name, status, credit, f"{name} is there", found, places, try_, code=code)
