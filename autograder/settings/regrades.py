"""Match regrade requests with the overrides that answer them."""

from collections.abc import Mapping

from autograder.errors import SettingsError
from autograder.safe_text import printable, shortened
from autograder.settings.policy import Override, Policy, Regrade
from autograder.settings.rubric_schema import Rubric
from autograder.wording import counted

LONGEST = 2000  # maximum characters of a student's request


def read_regrade(row: Mapping[str, str], rubric: Rubric, where: str) -> Regrade:
    name = row.get("check", "")
    there = [check.id for check in rubric.checks if not check.hidden]
    if name and name not in there:
        raise SettingsError(
            f"{where}: lesson {rubric.lesson} has no check {shortened(name)!r}; leave "
            f"`check` empty or take one of {', '.join(there)}"
        )
    return Regrade(printable(row["says"], LONGEST), name, where)


def answer_to(policy: Policy, student: str, lesson: str, request: Regrade) -> str:
    """Return the reason for the override of this check or the whole lesson.

    The reason is empty if there is no override yet.
    """
    changes = policy.overrides.get((student, lesson), ())
    for wanted in (request.check, ""):
        for change in changes:
            if change.check == wanted:
                return in_words(change)
    return ""


def in_words(change: Override) -> str:
    given = "excused" if change.points is None else counted(change.points, "point")
    return f"{given}: {change.reason}"
