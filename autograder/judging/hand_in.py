"""All the data that is used to judge one lesson of one student."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from autograder.measuring.interval import Measure, NotMeasured
from autograder.notes import Note
from autograder.records import Run
from autograder.settings.rubric_schema import Profile, Rubric, RunChoice
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.texts import Report

IMPLIED_BY_FORMAT = ("lesson", "source")  # facts in `where` that a format implies


@dataclass(frozen=True)
class HandIn:
    rubric: Rubric
    runs: Sequence[Run]
    answers: dict[str, WrittenAnswer]
    profile: Profile
    expected: dict = field(default_factory=dict)
    references: dict[str, Measure] = field(default_factory=dict)  # the solution's, on this site
    report: Report | None = None
    unseen: Sequence[Note] = ()  # files that could not be opened; a missing run may be in them
    # The run that counts for each name that was looked up.
    counted: dict[str, Run | NotMeasured] = field(default_factory=dict, init=False)

    @cached_property
    def runs_by_name(self) -> dict[str, list[Run]]:
        """Return the runs that match each name in the rubric, oldest first."""
        return {name: matching(self.runs, self.rubric, name) for name in self.rubric.runs}


def by_time(run: Run) -> tuple:
    return run.header.started or "", (run.job_id or "").zfill(20), run.files


def matching(runs: Sequence[Run], rubric: Rubric, name: str) -> list[Run]:
    """Return all runs that match this name in the rubric, oldest first."""
    choice = rubric.runs[name]
    facts = {"lesson": rubric.lesson} | choice.where
    recorded = [run for run in runs if run.has_header]
    matches = [run for run in recorded if all(says(run, k, v) for k, v in facts.items())]
    plain = [run for run in plain_outputs(runs, choice) if shows_facts(run, choice)]
    return sorted(matches or plain, key=by_time)


def plain_outputs(runs: Sequence[Run], choice: RunChoice) -> list[Run]:
    """Return the outputs without a record whose format and facts allow that they are this run."""
    workers = choice.where.get("world_size")
    return [
        run
        for run in runs
        if not run.has_header
        and run.format in choice.or_format
        and (workers is None or run.workers in (None, workers))
    ]


def shows_facts(run: Run, choice: RunChoice) -> bool:
    """Return whether an output without a record can show that it has the facts in `where`."""
    unsure = {"world_size"} if run.workers is None else set[str]()
    return {*choice.where} <= {*IMPLIED_BY_FORMAT, "world_size"} - unsure


def says(run: Run, key: str, value: object) -> bool:
    """Return whether a run's header states this fact. Without a lesson, it belongs to any."""
    stated = run.header.get(key)
    return stated == value or (key == "lesson" and stated is None)
