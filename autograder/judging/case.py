"""One lesson of one student: what it is judged by, and which of its runs a rubric speaks of."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.measuring.measure import Measure, NotMeasured, measured_or_none
from autograder.measuring.metrics import Value, metric_named
from autograder.measuring.record_facts import ERROR_FILE, train_samples
from autograder.reading.formats import mllog
from autograder.reading.outcome import RAISED
from autograder.records import Run, Where
from autograder.safe_text import printable
from autograder.settings.rubric import Profile, Rubric, Threshold
from autograder.submissions.answers import Given


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that one lesson of one student is judged by."""

    rubric: Rubric
    runs: Sequence[Run]
    answers: dict[str, Given]
    answers_file: str | None
    profile: Profile
    expected: dict = field(default_factory=dict)
    references: dict[str, Measure] = field(default_factory=dict)  # what the solution reaches here
    other_ids: Collection[str] = ()  # of other lessons' answers: no misspelt ones of this lesson


# --- which runs -----------------------------------------------------------------------------


def by_time(run: Run) -> tuple:
    started = run.header.get("started")
    job = run.job_id or ""
    number = int(job) if job.isascii() and job.isdigit() and len(job) < 20 else 0
    return (started if isinstance(started, str) else "", number, run.files)


def matching(runs: Sequence[Run], rubric: Rubric, name: str) -> list[Run]:
    """All runs that go by this name in the rubric, oldest first."""
    choice = rubric.runs[name]
    wanted = {"lesson": rubric.lesson} | choice.where
    found = [run for run in runs if run.header and all(says(run, k, v) for k, v in wanted.items())]
    if not found:
        found = [run for run in runs if not run.header and run.format in choice.or_format]
    return sorted(found, key=by_time)


def program_of(run: Run) -> str:
    """Program and model as the record names them: their runs on several sizes belong together."""
    known = [run.header.get(fact) for fact in ("source", "model")]
    return printable(", ".join(word for word in known if isinstance(word, str)) or run.format, 80)


def says(run: Run, key: str, value: object) -> bool:
    """A run that does not say its lesson may belong to any."""
    said = run.header.get(key)
    return said == value or (key == "lesson" and said is None)


def chosen(given: Case, name: str) -> Run:
    """The run that counts: of the finished ones that were asked for, the latest.

    NotMeasured says why there is none.
    """
    candidates = matching(given.runs, given.rubric, name)
    done = finished(given, name)
    if not candidates:
        hint = "submit the job and hand in its output"
        raise NotMeasured(f"no run of `{name}` was handed in", hint, absent=True)
    if not done:
        last = candidates[-1]
        raised = [p for p in last.problems if p.reason == RAISED and last.outcome == "failed"]
        problem = next(reversed(raised or last.problems), None)
        reason = f"the run of `{name}` did not finish: {last.outcome}"
        if problem:
            # A damaged line of the record stands at "Your runs" already; others say the cause.
            text = "" if mllog.TAG.decode() in problem.text else printable(problem.text, 120)
            reason += f" ({problem.reason}{': ' if text else ''}{text})"
        where = (problem.where,) if problem else (Where(last.files[0], 1),) if last.files else ()
        try_ = last_lines(last)
        if last.outcome == "incomplete":
            reason += ", its output ends before the run does"
            try_ = "hand in the whole output; if the job itself ended there, " + try_
        raise NotMeasured(reason, try_, where, absent=True)
    asked = [run for run in done if size_shortfall(given, run) is None] or done
    order = given.rubric.runs[name]
    for metric, pick in ((order.smallest, min), (order.largest, max)):
        if metric:
            sized = by_value(metric, asked)
            best = pick((value for value, _ in sized), default=None)
            asked = [run for value, run in sized if value == best] or asked
    return asked[-1]


def by_value(metric: str, runs: Sequence[Run]) -> list[tuple[float, Run]]:
    """The runs that it can be measured on, each with its value."""
    function = metric_named(metric).function
    values = [(measured_or_none(function, run), run) for run in runs]
    return [(value.value, run) for value, run in values if isinstance(value, Measure)]


def last_lines(run: Run) -> str:
    """Where a job that did not end well says why: in its error file, if one was handed in."""
    errors = [file for file in run.files if ERROR_FILE.match(file)]
    return "look at the last lines of " + (printable(errors[0]) if errors else "the output")


def size_shortfall(given: Case, run: Run) -> tuple[float, float] | None:
    """(trained on, asked for) when a run used fewer training samples than the profile asks."""
    if given.rubric.train_samples is None:
        return None
    asked = constant(given.rubric.train_samples, given.profile)
    used = measured_or_none(train_samples, run)
    if used and isinstance(asked, int | float) and used.value < asked:
        return used.value, asked
    return None


def constant(threshold: Threshold, profile: Profile) -> float | str | None:
    if threshold.value is not None:
        return threshold.value
    return threshold.smoke if profile == "smoke" else threshold.full


def finished(given: Case, name: str) -> list[Run]:
    """The finished runs that go by this name, oldest first."""
    return [run for run in matching(given.runs, given.rubric, name) if run.outcome == "completed"]


def larger_unfinished(given: Case, name: str) -> Run | None:
    """The latest run that ended badly and would have counted, being larger than those that did."""
    largest = given.rubric.runs[name].largest
    if largest is None:
        return None
    known = by_value(largest, matching(given.runs, given.rubric, name))
    most = max((size for size, run in known if run.outcome == "completed"), default=math.inf)
    larger = [run for size, run in known if run.outcome != "completed" and size > most]
    return larger[-1] if larger else None


def metric_value(
    given: Case, metric: str, name: str, run: Run, at: dict[str, Any], base: str | None = None
) -> Value:
    """A metric of a run, or of all that go by its name; `base`: what a speedup is relative to."""
    asked = metric_named(metric)
    if asked.all_runs:
        return asked.function(finished(given, name), at)
    if asked.of_a_run:
        return asked.function(run)
    if base is not None:
        return asked.function(chosen(given, base), run)
    return asked.function(run, at)


# --- how values are shown --------------------------------------------------------------------


def shown(value: float) -> str:
    """A number as people read it: 407,050 and 0.9612 and 2.1e-07."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def as_text(value: Value) -> str:
    return shown_measure(value) if isinstance(value, Measure) else str(value)


def shown_measure(value: Measure) -> str:
    unit = f" {value.unit}" if value.unit else ""
    if value.low == value.high:
        return shown(value.value) + unit
    return f"{shown(value.value)}{unit} [{shown(value.low)}, {shown(value.high)}]"


IN_WORDS = {"steps_expected": "samples / batch"}


def in_words(threshold: Threshold, name: str) -> str:
    """A threshold that is relative to something which is not there to be read."""
    if threshold.of_reference is not None:
        return f"{threshold.of_reference:g} of what the solution reaches on this site"
    label = IN_WORDS.get(threshold.metric or "", (threshold.metric or "").replace("_", " "))
    words = f"{label} of {threshold.of or name}"
    if threshold.factor != 1:
        words = f"{threshold.factor:g} × {words}"
    if threshold.plus:
        words += f" {'+' if threshold.plus > 0 else '−'} {abs(threshold.plus):g}"
    return words
