"""Make a finding of evidence from its row of the table."""

from collections.abc import Iterable, Sequence

from autograder.codes import FindingCode
from autograder.evidence.finding_codes import EVIDENCE_FINDINGS, Severity
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
    row = EVIDENCE_FINDINGS[code]
    return Finding(
        "evidence",
        row.title.format(**fields),
        expected,
        found,
        tuple(place for place in where if place)[:MOST_PLACES],
        advice,
        look=row.severity != Severity.INFORMATION,
        private=row.private,
        contradicts=row.severity == Severity.CONTRADICTS,
        code=code,
    )


def doubts(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that forbid *confirmed*."""
    return [one for one in findings if one.code and EVIDENCE_FINDINGS[one.code].forbids_confirmed]
