"""An instructor's rules for late submissions and changed grades.

read_policy.py reads them from files.
"""

import re
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, field_validator

from autograder.wording import counted

Key = tuple[str, str]  # student, lesson


class LatePolicy(BaseModel):
    """The field `late` of class.yaml."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    due: dict[str, str] = {}  # lesson -> ISO time with its offset
    free_days: int = Field(default=0, ge=0)  # late days per student, over all lessons
    penalty_a_day: str = "0%"  # share of a lesson's points
    # A submission later than this gets no points.
    latest_days: int | None = Field(default=None, ge=0)
    drop_lowest: int = Field(default=0, ge=0)

    @field_validator("penalty_a_day", mode="before")
    @classmethod
    def _percentage(cls, given: object) -> object:
        text = str(given).strip()
        if isinstance(given, int | float) and 1 <= given <= 100 and given is not True:
            raise ValueError(f"write {text}%, with its sign")
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?\s*%", text):
            raise ValueError(f"this is a percentage like 10%, not {given!r}")
        if float(text.removesuffix("%")) > 100:
            raise ValueError(f"at most 100% can be lost, not {text}")
        return text

    @property
    def lost_a_day(self) -> float:
        return float(self.penalty_a_day.removesuffix("%")) / 100


@dataclass(frozen=True, slots=True)
class Override:
    points: float | None  # None: excused
    reason: str
    check: str = ""  # empty: the whole lesson


@dataclass(frozen=True, slots=True)
class Regrade:
    """A student's request to look at a check, or a whole lesson, again."""

    says: str
    check: str = ""  # empty: the whole lesson


@dataclass(frozen=True, slots=True)
class Policy:
    late: LatePolicy = field(default_factory=LatePolicy)
    extensions: dict[Key, tuple[float, str]] = field(default_factory=dict)  # days
    overrides: dict[Key, tuple[Override, ...]] = field(default_factory=dict)
    regrades: dict[Key, tuple[Regrade, ...]] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # student -> the first row about them

    def of_student(self, student: str) -> list:
        """Return all rules that affect one student, as part of the cache key."""
        tables = (self.extensions, self.overrides, self.regrades)
        mine = [sorted((k, repr(v)) for k, v in t.items() if k[0] == student) for t in tables]
        return [self.late.model_dump(), *mine]

    def answer_to(self, student: str, lesson: str, request: Regrade) -> str:
        """Return the points and the reason of the override of this check or the whole lesson.

        The answer is empty if there is no override yet.
        """
        changes = {change.check: change for change in self.overrides.get((student, lesson), ())}
        change = changes.get(request.check) or changes.get("")
        if change is None:
            return ""
        points = "excused" if change.points is None else counted(change.points, "point")
        return f"{points}: {change.reason}"
