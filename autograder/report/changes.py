"""List the grades that differ from those of the last grading, each with what has changed."""

import json
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any, NamedTuple

from autograder.classroom.class_settings import ClassSettings
from autograder.evidence.examine import digest
from autograder.report.rendering import points
from autograder.settings.roster import Person
from autograder.verdict import Grade

NAME = "changes.csv"
OTHERWISE = "the rest of the class, or another version of the grader"


class Change(NamedTuple):
    student: str
    lesson: str
    old: str
    new: str
    because: str

    def __str__(self) -> str:
        return f"{self.student} {self.lesson}: {self.old} → {self.new}, because of {self.because}"


def sources(row: Grade, person: Person, settings: ClassSettings) -> dict[str, str]:
    """Return a hash of each thing that a grade depends on, by its name."""
    lesson, policy, jobs = row.lesson, settings.policy, settings.jobs
    rubric, late = settings.rubrics.get(lesson), policy.late
    accounted = [jobs[run.job_id] for run in row.runs if run.job_id in jobs] if jobs else []
    hosts = [sorted(job.hosts) for job in accounted]
    late_rules = late.free_days, late.penalty_a_day
    settled = policy.overrides.get(row.key), policy.extensions.get(row.key)
    facts: dict[str, object] = {
        "rubric": (rubric and rubric.model_dump_json(), settings.expected.get(lesson), row.profile),
        "calibration": settings.references.get(lesson),
        "override": (settled, policy.step, late.due.get(lesson), *late_rules),
        "roster": astuple(person),
        "accounting": (jobs is None, [replace(job, hosts=frozenset()) for job in accounted], hosts),
        "rerun": settings.reruns.get(row.key),
        "file": row.files,
        "submission time": row.handed_in,
    }
    return {name: digest(value) for name, value in facts.items()}


def changes(before: str, after: str) -> list[Change]:
    """Return the grades of the old grades.json that changed or are missing in the new one."""
    old, new = by_key(before), by_key(after)
    return [
        Change(*key, result(row), result(new.get(key)), because(row, new.get(key, {})))
        for key, row in old.items()
        if result(row) != result(new.get(key))
    ]


def by_key(text: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(row["student"], row["lesson"]): row for row in json.loads(text)["grades"]}


def result(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "no grade"
    return f"{points(row['score'])}/{points(row['max_score'])} {row['status']}"


def because(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    was, now = old.get("sources", {}), new.get("sources", {})
    if not new:
        nothing_submitted = was.get("file") == digest("")
        return f"roster, override, or {OTHERWISE}" if nothing_submitted else "file"
    return ", ".join(name for name in was if was[name] != now.get(name, "")) or OTHERWISE
