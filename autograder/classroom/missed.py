"""Why a check gave not all of its points, in words that are alike for many students."""

from autograder.safe_text import shortened
from autograder.verdict import BORDERLINE, PASSED, Check, Part

MOST = 8  # reasons of a check
LONGEST = 120


def reasons(check: Check) -> tuple[str, ...]:
    if check.status in (PASSED, BORDERLINE):
        return ()
    if check.by_hand:
        return (shortened(check.by_hand, LONGEST),)
    missed = [part for part in check.parts if part.status not in (PASSED, BORDERLINE)]
    found = dict.fromkeys(shortened(reason(part), LONGEST) for part in missed)
    return tuple(found)[:MOST] or (shortened(check.found, LONGEST),)


def reason(part: Part) -> str:
    """What one student's number was says little of a class: what was not reached does."""
    if part.found == "no answer":
        return f"{part.name}: no answer"
    if part.found.startswith(f"{part.name}: "):
        is_answer = part.expected.startswith(f"{part.name}:")
        return f"{part.name}: another answer" if is_answer else f"not {part.expected}"
    return part.found
