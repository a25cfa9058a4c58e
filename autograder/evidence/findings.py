"""Create findings about the evidence, and select those that raise doubts."""

from collections.abc import Iterable

from autograder.codes import FindingCode
from autograder.finding_codes import CONTRADICTS, DOUBT
from autograder.records import Where
from autograder.verdict import Finding, make_finding

AS_WRITTEN = "submit the output as the job wrote it, or run the job again"


def finding(
    code: FindingCode,
    expected: str,
    found: str,
    where: Iterable[Where | None],
    advice: str = AS_WRITTEN,
    **fields: str,
) -> Finding:
    return make_finding("evidence", code, expected, found, where, advice, **fields)


def doubts(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that keep a run from reaching the level *confirmed*."""
    return [one for one in findings if one.code.severity in (CONTRADICTS, DOUBT)]
