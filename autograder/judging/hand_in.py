"""What is judged: one lesson of one student, and what it is judged by."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autograder.measuring.interval import Measure
from autograder.records import Run
from autograder.settings.rubric_schema import Profile, Rubric
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.report import Report


class Unseen(NamedTuple):
    """What was handed in and could not be looked into: it may be what is missing."""

    file: str  # or an archive
    found: str
    do: str


@dataclass(frozen=True, slots=True)
class HandIn:
    rubric: Rubric
    runs: Sequence[Run]
    answers: dict[str, WrittenAnswer]
    answers_file: str | None
    profile: Profile
    expected: dict = field(default_factory=dict)
    references: dict[str, Measure] = field(default_factory=dict)  # what the solution reaches here
    report: Report | None = None
    unread: Sequence[WrittenAnswer] = ()  # lines of the answers that were not understood
    unseen: Sequence[Unseen] = ()
    other_ids: Collection[str] = ()  # of other lessons' answers: no misspelt ones of this lesson
    # Which runs go by a name of the rubric is asked by every condition: found once.
    by_name: dict[str, list[Run]] = field(default_factory=dict, init=False, compare=False)
    that_counts: dict[str, Run] = field(default_factory=dict, init=False, compare=False)
