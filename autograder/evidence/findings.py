"""Make a finding of evidence, with the title and severity of its code."""

from collections.abc import Iterable, Sequence

from autograder.codes import FindingCode
from autograder.finding_codes import CONTRADICTS, DOUBT, INFORMATION
from autograder.records import Where
from autograder.verdict import Finding

AS_WRITTEN = "hand in the output as the job wrote it, or run the job again"
MOST_PLACES = 4


def finding(
    code: FindingCode,
    expected: str,
    found: str,
    where: Sequence[Where | None],
    advice: str = AS_WRITTEN,
    **fields: str,
) -> Finding:
    """Return the finding of this code. `fields` fill in its title."""
    return Finding(
        "evidence",
        code.heading.format(**fields),
        expected,
        found,
        tuple(place for place in where if place)[:MOST_PLACES],
        advice,
        look=code.severity != INFORMATION,
        private=code.private,
        contradicts=code.severity == CONTRADICTS,
        code=code,
    )


def doubts(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that forbid *confirmed*."""
    return [one for one in findings if one.code.severity in (CONTRADICTS, DOUBT)]
