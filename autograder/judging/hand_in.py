"""What is judged: one lesson of one student, and what it is judged by."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from autograder.measuring.interval import Measure
from autograder.records import Run
from autograder.settings.rubric_schema import Profile, Rubric, RunChoice
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.report import Report

TOLD_BY_FORMAT = ("lesson", "source")  # of a choice's `where`


class Unseen(NamedTuple):
    """What was handed in and could not be looked into: it may be what is missing."""

    file: str  # or an archive
    found: str
    do: str


@dataclass(frozen=True)
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

    @cached_property
    def runs_by_name(self) -> dict[str, list[Run]]:
        """The runs of each name in the rubric, oldest first."""
        return {name: matching(self.runs, self.rubric, name) for name in self.rubric.runs}


def by_time(run: Run) -> tuple:
    job = run.job_id or ""
    number = int(job) if job.isascii() and job.isdigit() and len(job) < 20 else 0
    return run.header.started or "", number, run.files


def matching(runs: Sequence[Run], rubric: Rubric, name: str) -> list[Run]:
    """Return all runs of this name in the rubric, oldest first."""
    choice = rubric.runs[name]
    facts = {"lesson": rubric.lesson} | choice.where
    matches = [
        run for run in runs if run.has_header and all(says(run, k, v) for k, v in facts.items())
    ]
    if not matches:
        matches = [run for run in plain_outputs(runs, choice) if output_fits(run, choice) is True]
    return sorted(matches, key=by_time)


def plain_outputs(runs: Sequence[Run], choice: RunChoice) -> list[Run]:
    """Return the outputs without a record that were read in a format of this choice."""
    return [run for run in runs if not run.has_header and run.format in choice.or_format]


def output_fits(run: Run, choice: RunChoice) -> bool | None:
    """Return whether an output without a record is what `where` asks; None: it does not say.

    Its format stands for the lesson and the program. All else has to be in the output.
    """
    asked = {key: value for key, value in choice.where.items() if key not in TOLD_BY_FORMAT}
    workers = asked.pop("world_size", None)
    if workers is not None and run.workers is not None and run.workers != workers:
        return False
    return None if asked or (workers is not None and run.workers is None) else True


def says(run: Run, key: str, value: object) -> bool:
    """A run that does not say its lesson may belong to any."""
    stated = run.header.get(key)
    return stated == value or (key == "lesson" and stated is None)
