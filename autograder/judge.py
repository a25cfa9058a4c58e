"""Rubric + runs + answers -> points with their reasons. A pure function of records.

Order: did it finish, is it the run that was asked for, what was measured, then the threshold.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder import measure
from autograder.answers import Given, as_number, as_word
from autograder.harmless import printable
from autograder.measure import Measure, Missing, exact
from autograder.metrics import METRICS, Value, measured
from autograder.records import Run, Where
from autograder.rubric import Answer, Condition, Profile, Rubric, RubricCheck, Threshold, tolerance
from autograder.verdict import (
    BORDERLINE,
    FAILED,
    NOT_MEASURED,
    PARTIAL,
    PASSED,
    Check,
    Finding,
    Judged,
)

SYMBOLS = {"at_least": "≥", "at_most": "≤", "above": ">", "below": "<", "equal": "="}


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that one lesson of one student is judged by."""

    rubric: Rubric
    runs: Sequence[Run]
    answers: dict[str, Given]
    answers_file: str | None
    profile: Profile
    expected: dict = field(default_factory=dict)
    references: dict[str, Measure] = field(default_factory=dict)  # from the calibration


@dataclass(frozen=True, slots=True)
class Outcome:
    credit: float
    status: str
    expected: str
    found: str
    where: tuple[Where, ...] = ()
    try_: str = ""
    detail: str = ""


# --- which runs -----------------------------------------------------------------------------


def by_time(run: Run) -> tuple:
    started = run.header.get("started")
    job = run.job_id or ""
    number = int(job) if job.isascii() and job.isdigit() and len(job) < 20 else 0
    return (started if isinstance(started, str) else "", number, run.files)


def matching(runs: Sequence[Run], rubric: Rubric, name: str) -> list[Run]:
    """All runs that go by this name in the rubric, oldest first."""
    wanted = rubric.runs[name]
    found = [
        run
        for run in runs
        if all(
            (run.format if key == "format" else run.header.get(key)) == value
            for key, value in wanted.where.items()
        )
    ]
    return sorted(found, key=by_time)


def chosen(given: Case, name: str) -> Run | Missing:
    """The run that counts: of the finished ones that were asked for, the latest."""
    candidates = matching(given.runs, given.rubric, name)
    finished = [run for run in candidates if run.outcome == "completed"]
    if not candidates:
        return Missing(f"no run of `{name}` was handed in", "submit the job and hand in its output")
    if not finished:
        last = candidates[-1]
        problem = last.problems[-1] if last.problems else None
        reason = f"the run of `{name}` did not finish: {last.outcome}"
        if problem:
            reason += f" ({problem.reason}: {printable(problem.text, 120)})"
        where = (problem.where,) if problem else (Where(last.files[0], 1),) if last.files else ()
        return Missing(reason, "look at the last lines of the error file", where)
    asked = [run for run in finished if _size_shortfall(given, run) is None] or finished
    order = given.rubric.runs[name]
    for metric, pick in ((order.smallest, min), (order.largest, max)):
        if metric:
            sized = [(METRICS[metric](run), run) for run in asked]
            values = [m.value for m, _ in sized if isinstance(m, Measure)]
            if values:
                best = pick(values)
                asked = [r for m, r in sized if isinstance(m, Measure) and m.value == best]
    return asked[-1]


def _size_shortfall(given: Case, run: Run) -> tuple[float, float] | None:
    """(trained on, asked for) when a run used fewer training samples than the profile asks."""
    if given.rubric.train_samples is None:
        return None
    asked = constant(given.rubric.train_samples, given.profile)
    used = METRICS["train_samples"](run)
    if isinstance(used, Measure) and isinstance(asked, int | float) and used.value < asked:
        return used.value, asked
    return None


def constant(threshold: Threshold, profile: Profile) -> float | str | None:
    if threshold.value is not None:
        return threshold.value
    return threshold.smoke if profile == "smoke" else threshold.full


# --- a condition ----------------------------------------------------------------------------


def metric_value(metric: str, run: Run, at: dict) -> Value:
    if metric.startswith("measure:"):
        return measured(run, metric.removeprefix("measure:"), at)
    return METRICS[metric](run)


def value_of(given: Case, condition: Condition, name: str) -> Value:
    run = chosen(given, name)
    if isinstance(run, Missing):
        return run
    value = metric_value(condition.metric, run, condition.at)
    other_name = condition.minus or condition.over
    if other_name is None or not isinstance(value, Measure):
        return value
    other_run = chosen(given, other_name)
    if isinstance(other_run, Missing):
        return other_run
    other = metric_value(condition.metric, other_run, condition.at)
    if not isinstance(other, Measure):
        return other if isinstance(other, Missing) else Missing(f"{condition.metric} is a word")
    return measure.difference(value, other) if condition.minus else measure.ratio(value, other)


def threshold_value(given: Case, threshold: Threshold, name: str) -> Value:
    fixed = constant(threshold, given.profile)
    if isinstance(fixed, str):
        return fixed
    if fixed is not None:
        value: Value = exact(fixed)
    elif threshold.ref is not None:
        value = given.references.get(threshold.ref) or Missing(
            f"no calibration of `{threshold.ref}` for this site",
            "instructor: `autograder calibrate` with the solution's outputs, then --calibration",
        )
    else:
        run = chosen(given, threshold.of or name)
        value = run if isinstance(run, Missing) else metric_value(threshold.metric or "", run, {})
    if not isinstance(value, Measure):
        return value
    moved = measure.scaled(value, threshold.factor)
    return Measure(
        moved.value + threshold.plus,
        moved.low + threshold.plus,
        moved.high + threshold.plus,
        moved.unit,
        moved.where,
        moved.basis,
    )


def judge_run(given: Case, condition: Condition, name: str) -> Outcome:
    """One condition on one run."""
    label = condition.metric.removeprefix("measure:")
    if condition.minus:
        label = f"difference in {label} to {condition.minus}"
    if condition.over:
        label = f"{label} over that of {condition.over}"
    limit = threshold_value(given, condition.threshold, name)
    value = value_of(given, condition, name)
    symbol = SYMBOLS[condition.operator]
    goal = limit if isinstance(limit, str) else "?"
    if isinstance(limit, Measure):
        goal = shown(limit.value)
        if condition.threshold.ref:
            goal += f" ({condition.threshold.factor:g} × the reference)"
    expected = f"{label} of {name} {symbol} {goal}"
    for missing in (value, limit):
        if isinstance(missing, Missing):
            run = chosen(given, name)
            status = FAILED if isinstance(run, Missing) else NOT_MEASURED
            detail = f"{expected}: {missing.reason}"
            return Outcome(0, status, expected, missing.reason, missing.where, missing.try_, detail)
    if isinstance(value, str) or isinstance(limit, str):
        same = value == limit
        found = f"{label} of {name} is {as_text(value)}"
        status = PASSED if same else FAILED
        return Outcome(float(same), status, expected, printable(found), detail=found)
    assert isinstance(value, Measure)
    assert isinstance(limit, Measure)
    credit, status = compare(value, limit, condition)
    if credit == 0 or status == FAILED:
        credit, status = partial(given, value, limit, condition, name)
    found = f"{label} of {name} is {shown_measure(value)}"
    if value.basis:
        found += f", {value.basis}"
    detail = f"{expected}: {found} -> {status}, credit {credit:.3f}"
    return Outcome(credit, status, expected, found, value.where[:4], "", detail)


def compare(value: Measure, limit: Measure, condition: Condition) -> tuple[float, str]:
    """Full credit as soon as the interval reaches the threshold; borderline if part of it does."""
    relative, absolute = tolerance(condition.tolerance)
    slack = max(absolute, relative * abs(limit.value), 1e-9 * abs(limit.value))
    operator = condition.operator
    if operator == "equal":
        sure = abs(value.value - limit.value) <= slack
        possible = value.low - slack <= limit.high and value.high + slack >= limit.low
    elif operator in ("at_least", "above"):
        sure, possible = value.low >= limit.high - slack, value.high >= limit.low - slack
    else:
        sure, possible = value.high <= limit.low + slack, value.low <= limit.high + slack
    if operator == "above":
        sure, possible = value.low > limit.high, value.high > limit.low
    if operator == "below":
        sure, possible = value.high < limit.low, value.low < limit.high
    if sure:
        return 1.0, PASSED
    return (1.0, BORDERLINE) if possible else (0.0, FAILED)


def partial(
    given: Case, value: Measure, limit: Measure, condition: Condition, name: str
) -> tuple[float, str]:
    """Credit below the threshold: linear between two values, by the end of the interval that is
    better for the student, so that it meets full credit without a step."""
    start = condition.half_from or condition.zero_from
    if start is None:
        return 0.0, FAILED
    begin = threshold_value(given, start, name)
    if not isinstance(begin, Measure) or begin.value == limit.value:
        return 0.0, FAILED
    best = value.high if condition.operator == "at_least" else value.low
    way = (best - begin.value) / (limit.value - begin.value)
    if way < 0 or (way == 0 and condition.zero_from):
        return 0.0, FAILED
    floor = 0.5 if condition.half_from else 0.0
    return min(1.0, floor + (1 - floor) * way), PARTIAL


def judge_condition(given: Case, condition: Condition) -> Outcome:
    """A condition on all its runs; `take` says how many of them have to satisfy it."""
    outcomes = [judge_run(given, condition, name) for name in condition.of]
    ranked = sorted(outcomes, key=lambda o: (-o.credit, o.status == BORDERLINE))
    count = {"best": 1, "each": len(ranked)}.get(str(condition.take), condition.take)
    place = min(int(count), len(ranked)) - 1
    decisive = ranked[place]
    if place < len(ranked) - 1 or len(ranked) == 1:
        found = decisive.found
    else:
        found = "; ".join(o.found for o in outcomes)
    detail = "\n".join(o.detail for o in outcomes)
    return Outcome(
        decisive.credit,
        decisive.status,
        " and ".join(o.expected for o in outcomes)
        if condition.take == "each"
        else decisive.expected,
        found,
        decisive.where,
        decisive.try_,
        detail,
    )


# --- a check --------------------------------------------------------------------------------

ORDER = {FAILED: 0, NOT_MEASURED: 1, PARTIAL: 2, BORDERLINE: 3, PASSED: 4}


def judge_check(given: Case, check: RubricCheck) -> Check:
    if check.answers:
        return judge_answers(given, check)
    conditions = [c for c in check.require if c.only in (None, given.profile)]
    judged = [judge_condition(given, c) for c in conditions if not uncalibrated(given, c)]
    skipped = [c for c in conditions if uncalibrated(given, c)]
    notes = tuple(f"{c.metric}: no calibration of `{c.threshold.ref}`, left out" for c in skipped)
    outcomes = judged or [judge_condition(given, c) for c in skipped]
    worst = min(outcomes, key=lambda o: (o.credit, ORDER[o.status]))
    status = min((o.status for o in outcomes), key=ORDER.__getitem__)
    credit = min(o.credit for o in outcomes)
    speaking = outcomes if status == PASSED else [o for o in outcomes if o.status != PASSED]
    return Check(
        id=check.id,
        title=check.title,
        points=check.points,
        score=round(check.points * credit, 4),
        status=status,
        expected="; ".join(o.expected for o in speaking),
        found="; ".join(dict.fromkeys(o.found for o in speaking)),
        where=tuple(dict.fromkeys(w for o in speaking for w in o.where))[:6],
        try_="" if status == PASSED else worst.try_ or check.try_,
        hidden=check.hidden,
        detail=tuple(line for o in outcomes for line in o.detail.split("\n")) + notes,
    )


def uncalibrated(given: Case, condition: Condition) -> bool:
    """Relative to a reference that nobody has measured on this site."""
    ref = condition.threshold.ref
    return ref is not None and ref not in given.references


def judge_answers(given: Case, check: RubricCheck) -> Check:
    """Each answer is worth the same share of the points."""
    outcomes = {key: judge_answer(given, key) for key in check.answers}
    right = sum(o.credit for o in outcomes.values())
    credit = right / len(outcomes)
    states = {o.status for o in outcomes.values()}
    if credit == 1:
        status = PASSED
    elif NOT_MEASURED in states and states <= {NOT_MEASURED, PASSED}:
        status = NOT_MEASURED
    else:
        status = PARTIAL if credit else FAILED
    wrong = {key: o for key, o in outcomes.items() if o.credit < 1}
    return Check(
        id=check.id,
        title=check.title,
        points=check.points,
        score=round(check.points * credit, 4),
        status=status,
        expected="; ".join(f"{key}: {o.expected}" for key, o in wrong.items())
        or f"{len(outcomes)} answers",
        found="; ".join(f"{key}: {o.found}" for key, o in wrong.items())
        or f"{right:g} of {len(outcomes)} answers count",
        where=tuple(w for o in wrong.values() for w in o.where)[:6],
        try_="; ".join(dict.fromkeys(o.try_ for o in wrong.values() if o.try_))
        or ("" if status == PASSED else check.try_),
        hidden=check.hidden,
        detail=tuple(f"{key}: {o.detail or o.found}" for key, o in outcomes.items()),
    )


def judge_answer(given: Case, key: str) -> Outcome:
    question = given.rubric.answers[key]
    answer = given.answers.get(key)
    if answer is None or not answer.text:
        near = difflib.get_close_matches(key, set(given.answers) - set(given.rubric.answers), 1)
        where = (
            given.answers[near[0]].where if near else Where(given.answers_file or "answers.txt", 1)
        )
        hint = f"is `{near[0]}` meant? The id is `{key}`" if near else f"write `{key} = …`"
        found = "no answer" if given.answers_file else "no answers.txt"
        return Outcome(0, FAILED, f"a {question.kind}", found, (where,), hint)
    if question.kind == "prediction":
        return Outcome(1, PASSED, "a prediction", "made", (answer.where,))
    if question.kind == "word":
        return _judge_word(given, key, question, answer)
    return _judge_number(given, key, question, answer)


def _judge_word(given: Case, key: str, question: Answer, answer: Given) -> Outcome:
    where = (answer.where,)
    said = printable(answer.text, 40)
    choices = " or ".join(question.choices)
    if key not in given.expected:
        return Outcome(
            0, NOT_MEASURED, "a word", f"`{said}`; the expected answer is not here", where
        )
    if question.choices and as_word(answer.text) not in map(as_word, question.choices):
        hint = f"answer {choices}"
        return Outcome(0, FAILED, choices, f"`{said}`", where, hint)
    right = as_word(answer.text) == as_word(str(given.expected[key]))
    status = PASSED if right else FAILED
    return Outcome(
        float(right), status, "the right word", f"`{said}`", where, "" if right else question.try_
    )


def _judge_number(given: Case, key: str, question: Answer, answer: Given) -> Outcome:
    where = (answer.where,)
    number = as_number(answer.text, question.unit)
    said = printable(answer.text, 40)
    if number is None:
        hint = "write digits only, like 7.2" + (f", in {question.unit}" if question.unit else "")
        return Outcome(0, FAILED, "a number", f"`{said}` is no number", where, hint)
    relative, absolute = tolerance(question.tolerance)

    def near(value: float) -> bool:
        return abs(number - value) <= max(absolute, relative * abs(value), 1e-9 * abs(value))

    if question.metric is None:
        if key not in given.expected:
            found = f"{said}; the expected answer is not here"
            return Outcome(0, NOT_MEASURED, "a number", found, where)
        right = near(float(given.expected[key]))
        status = PASSED if right else FAILED
        found = f"{said}" + ("" if right else ", which is not it")
        expected = f"a number within {question.tolerance} of the right one"
        return Outcome(float(right), status, expected, found, where, "" if right else question.try_)
    return _judge_own_number(given, question, said, where, near)


def _judge_own_number(given: Case, question: Answer, said: str, where: tuple, near) -> Outcome:
    """A number about the student's own runs: right if any finished run of that name says so."""
    name = question.of or ""
    last = chosen(given, name)
    if isinstance(last, Missing):
        return Outcome(0, FAILED, "a number from your own run", last.reason, last.where, last.try_)
    runs = [r for r in matching(given.runs, given.rubric, name) if r.outcome == "completed"]
    values = [metric_value(question.metric or "", run, question.at) for run in [last, *runs]]
    usable = [v for v in values if isinstance(v, Measure)]
    if not usable:
        reason = next((v.reason for v in values if isinstance(v, Missing)), "not a number")
        return Outcome(0, NOT_MEASURED, "a number from your own run", reason, where)
    match = next((v for v in usable if near(v.value)), None)
    truth = match or usable[0]
    expected = f"{shown_measure(truth)} ± {question.tolerance}, from your own record"
    status = PASSED if match else FAILED
    places = where + truth.where[:2]
    return Outcome(
        float(match is not None), status, expected, said, places, "" if match else question.try_
    )


# --- the whole ------------------------------------------------------------------------------


def judge(given: Case) -> Judged:
    checks = []
    for check in given.rubric.checks:
        if check.only not in (None, given.profile):
            continue
        if check.if_present and not any(
            matching(given.runs, given.rubric, name) for c in check.require for name in c.of
        ):
            continue
        checks.append(judge_check(given, check))
    findings = []
    for name in given.rubric.runs:
        run = chosen(given, name)
        short = None if isinstance(run, Missing) else _size_shortfall(given, run)
        if short is not None and isinstance(run, Run):
            findings.append(
                Finding(
                    "run",
                    f"The run of `{name}` is smaller than asked",
                    expected=f"{shown(short[1])} training samples (profile {given.profile})",
                    found=f"{shown(short[0])}",
                    where=tuple(e.where for e in run.epochs[:1] if e.where),
                    try_="submit the job without --train-samples",
                )
            )
    unknown = sorted(set(given.answers) - set(given.rubric.answers))
    if unknown:
        findings.append(
            Finding(
                "answers",
                "Answers that this lesson does not ask",
                expected="the ids of the notebook",
                found=printable(", ".join(unknown)),
                where=tuple(given.answers[key].where for key in unknown[:4]),
                try_="check the spelling of these ids",
            )
        )
    return Judged(
        score=round(sum(c.score for c in checks), 2),
        max_score=given.rubric.points,
        checks=tuple(checks),
        findings=tuple(findings),
    )


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
