"""Create findings about the evidence, and select those that raise doubts."""

from collections.abc import Iterable

from autograder.codes import FindingCode
from autograder.finding_codes import CONTRADICTS, DOUBT
from autograder.notes import Note, make_note
from autograder.records import Where

AS_WRITTEN = "submit the output as the job wrote it, or run the job again"


def finding(
    code: FindingCode,
    expected: str,
    found: str,
    where: Iterable[Where | None],
    advice: str = AS_WRITTEN,
    **fields: str,
) -> Note:
    return make_note(code, expected, found, where, advice, **fields)


def doubts(findings: Iterable[Note]) -> list[Note]:
    """Return the findings that keep a run from reaching the level *confirmed*."""
    return [one for one in findings if one.code.severity in (CONTRADICTS, DOUBT)]
