"""Explain why a check did not give all points, in words that group many students."""

from autograder.codes import ReasonCode
from autograder.safe_text import shortened
from autograder.verdict import BORDERLINE, PASSED, Check, Part

MOST = 8  # reasons per check
LONGEST = 120
ANSWERED = (ReasonCode.ANSWER, ReasonCode.OWN_RECORD, ReasonCode.EXPECTED_KEPT)
COMPARED = (ReasonCode.VALUE, ReasonCode.TABLE)


def reasons(check: Check) -> tuple[str, ...]:
    if check.status in (PASSED, BORDERLINE):
        return ()
    if check.by_hand:
        return (shortened(check.by_hand, LONGEST),)
    missed = [part for part in check.parts if part.status not in (PASSED, BORDERLINE)]
    found = dict.fromkeys(shortened(reason(part), LONGEST) for part in missed)
    return tuple(found)[:MOST] or (shortened(check.found, LONGEST),)


def reason(part: Part) -> str:
    """Return the reason why a part gave no points.

    It names the condition that was not met, because single students' numbers do not group a class.
    """
    if part.code == ReasonCode.NO_ANSWER:
        return f"{part.name}: {part.found}"
    if part.code in ANSWERED:
        return f"{part.name}: another answer"
    return f"needs {part.expected}" if part.code in COMPARED else part.found
