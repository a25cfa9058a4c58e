"""Which of a student's runs a rubric speaks of, and which of these counts."""

import math
from collections.abc import Callable, Sequence

from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import Measure, NotMeasured, measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.measuring.record_facts import ERROR_FILE, train_samples
from autograder.reading.formats import mllog
from autograder.reading.outcome import RAISED
from autograder.records import Run, Where
from autograder.safe_text import printable, shortened
from autograder.settings.rubric_schema import Rubric


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


def named(hand_in: HandIn, name: str) -> list[Run]:
    """The student's runs that go by this name in the rubric, oldest first."""
    if name not in hand_in.by_name:
        hand_in.by_name[name] = matching(hand_in.runs, hand_in.rubric, name)
    return hand_in.by_name[name]


def names_of(runs: Sequence[Run], rubric: Rubric) -> Callable[[Run], Sequence[str]]:
    """What the rubric calls each of these runs; one may go by several names."""
    names: dict[int, list[str]] = {}
    for name in rubric.runs:
        for run in matching(runs, rubric, name):
            names.setdefault(id(run), []).append(name)
    return lambda run: names.get(id(run), ())


def program_of(run: Run) -> str:
    """Program and model as the record names them: their runs on several sizes belong together."""
    known = [run.header.get(fact) for fact in ("source", "model")]
    return printable(", ".join(word for word in known if isinstance(word, str)) or run.format, 80)


def says(run: Run, key: str, value: object) -> bool:
    """A run that does not say its lesson may belong to any."""
    said = run.header.get(key)
    return said == value or (key == "lesson" and said is None)


def run_that_counts(hand_in: HandIn, name: str) -> Run:
    """Of the finished runs that were asked for, the latest. NotMeasured says why there is none."""
    if name not in hand_in.that_counts:
        hand_in.that_counts[name] = latest_as_asked(hand_in, name)
    return hand_in.that_counts[name]


def latest_as_asked(hand_in: HandIn, name: str) -> Run:
    candidates = named(hand_in, name)
    if not candidates:
        hint = "submit the job and hand in its output"
        raise NotMeasured(f"no run of `{name}` was handed in", hint, absent=True)
    done = finished(hand_in, name)
    if not done:
        raise did_not_finish(name, candidates[-1])
    asked = [run for run in done if size_shortfall(hand_in, run) is None] or done
    choice = hand_in.rubric.runs[name]
    for metric, pick in ((choice.smallest, min), (choice.largest, max)):
        if metric:
            sized = by_value(metric, asked)
            best = pick((value for value, _ in sized), default=None)
            asked = [run for value, run in sized if value == best] or asked
    return asked[-1]


def did_not_finish(name: str, run: Run) -> NotMeasured:
    """How the run ended, with the problem that its output tells of."""
    raised = [p for p in run.problems if p.reason == RAISED and run.outcome == "failed"]
    problem = next(reversed(raised or run.problems), None)
    reason = f"the run of `{name}` did not finish: {run.outcome}"
    if problem:
        # A damaged line of the record stands at "Your runs" already; others say the cause.
        text = "" if mllog.TAG.decode() in problem.text else shortened(problem.text, 120)
        reason += f" ({problem.reason}{': ' if text else ''}{text})"
    where = (problem.where,) if problem else (Where(run.files[0], 1),) if run.files else ()
    try_ = last_lines(run)
    if run.outcome == "incomplete":
        reason += ", its output ends before the run does"
        try_ = "hand in the whole output; if the job itself ended there, " + try_
    return NotMeasured(reason, try_, where, absent=True)


def by_value(metric: str, runs: Sequence[Run]) -> list[tuple[float, Run]]:
    """The runs that it can be measured on, each with its value."""
    function = metric_named(metric).function
    values = [(measured_or_none(function, run), run) for run in runs]
    return [(value.value, run) for value, run in values if isinstance(value, Measure)]


def last_lines(run: Run) -> str:
    """Where a job that did not end well says why: in its error file, if one was handed in."""
    errors = [file for file in run.files if ERROR_FILE.match(file)]
    return "look at the last lines of " + (shortened(errors[0]) if errors else "the output")


def size_shortfall(hand_in: HandIn, run: Run) -> tuple[float, float] | None:
    """(trained on, asked for) when a run used fewer training samples than the profile asks."""
    if hand_in.rubric.train_samples is None:
        return None
    asked = hand_in.rubric.train_samples.fixed(hand_in.profile)
    used = measured_or_none(train_samples, run)
    if used and isinstance(asked, int | float) and used.value < asked:
        return used.value, asked
    return None


def finished(hand_in: HandIn, name: str) -> list[Run]:
    """The finished runs that go by this name, oldest first."""
    return [run for run in named(hand_in, name) if run.outcome == "completed"]


def larger_unfinished(hand_in: HandIn, name: str) -> Run | None:
    """The latest run that ended badly and would have counted, being larger than those that did."""
    largest = hand_in.rubric.runs[name].largest
    if largest is None:
        return None
    known = by_value(largest, named(hand_in, name))
    most = max((size for size, run in known if run.outcome == "completed"), default=math.inf)
    larger = [run for size, run in known if run.outcome != "completed" and size > most]
    return larger[-1] if larger else None
