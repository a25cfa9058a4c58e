"""Feedback as pages: one for each student, one for the class. Each is one file without scripts
or parts elsewhere; only sorting and filtering the class table takes a few lines of script."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.classroom.rows import Row
from autograder.report import pictures
from autograder.report.signs import LEGEND, SIGNS, marks, notice, points
from autograder.settings.roster import Person
from autograder.verdict import PASSED, TIERS, Check, Grade, Part, Point
from autograder.wording import shown


@cache
def environment() -> Environment:
    env = Environment(
        loader=PackageLoader("autograder.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    source = env.loader.get_source(env, "style.css")[0]  # type: ignore[union-attr]
    env.globals.update(
        style=Markup(source),
        points=points,
        shown=shown,
        signs=SIGNS,
        legend=LEGEND,
        curves=curves,
        met=met,
        reasons=reasons,
        epoch_bars=pictures.epoch_bars,
        rounds_bars=pictures.rounds_bars,
        speedup_curve=pictures.speedup_curve,
    )
    env.tests["false"] = lambda value: value is False
    return env


def curves(grade: Grade) -> list[tuple[str, list[tuple[int, Point]]]]:
    """Speedup over workers for every program that ran on more than one size."""
    found = []
    finished = [r for r in grade.runs if r.outcome == "completed"]
    for name in sorted({r.program for r in finished}):
        same = [r for r in finished if r.program == name]
        line = [(r.workers, r.speedup) for r in same if r.speedup and (r.workers or 0) > 1]
        if line and any(r.workers == 1 for r in same):
            sizes = [(workers, p) for workers, p in line if workers is not None]
            found.append((name, [(1, Point(1.0, 1.0, 1.0)), *sizes]))
    return found


def met(check: Check) -> list[tuple[str, str]]:
    """What was found and what was asked, of a check that passed; of answers only how many."""
    parts = dict.fromkeys((p.found, p.expected.removeprefix(p.name).strip()) for p in check.parts)
    return (
        list(parts)
        if check.found == "; ".join(found for found, _ in parts)
        else [(check.found, "")]
    )


def reasons(check: Check) -> list[Part]:
    """Why points are missing; what was found alike for several is said once."""
    merged: dict[tuple, list[Part]] = {}
    for part in check.parts:
        if part.status != PASSED:
            merged.setdefault((part.found, part.where, part.try_), []).append(part)
    return [
        Part(
            parts[0].name,
            parts[0].status,
            parts[0].credit,
            "; ".join(dict.fromkeys(p.expected for p in parts)),
            *key,
        )
        for key, parts in merged.items()
    ]


Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]


def student_page(name: str, grades: Sequence[Grade], references: Curves) -> str:
    """All lessons of a student. Hidden checks count in the sum and are not shown."""
    return (
        environment()
        .get_template("student.html.j2")
        .render(
            student=name,
            grades=grades,
            references=references,
            total=sum(g.score or 0 for g in grades),
            most=sum(g.max_score for g in grades if g.status != "excused"),
            smoke=any(g.profile == "smoke" for g in grades),
        )
    )


def class_page(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    shown_rows = [_shown(row, people) for row in rows]
    # Every row once, by what its last but one column says, so that the counts add up.
    states = Counter(row.tier or row.status for row in rows)
    drawn = []
    for lesson in sorted({row.lesson for row in rows if row.score is not None}):
        same = [row for row in rows if row.lesson == lesson and row.score is not None]
        scores = [row.score for row in same if row.score is not None]
        most = max(row.max_score for row in same)
        count = f"{len(scores)} submission" + ("" if len(scores) == 1 else "s")
        label = f"{lesson} {same[0].title}: points of {count}"
        drawn.append((label, pictures.histogram(scores, most, "points")))
        gains = [row.speedup for row in same if row.speedup]
        if len(gains) > 1:
            label = f"{lesson}: best speedup of {len(gains)} submissions"
            drawn.append((label, pictures.histogram(gains, round_end(gains), "speedup")))
    return (
        environment()
        .get_template("class.html.j2")
        .render(
            students=len({row.student for row in rows}),
            submissions=sum(row.status != "missing" for row in rows),
            rows=shown_rows,
            looks=[row for row in shown_rows if row["look"]],
            states=[(s, states[s]) for s in (*TIERS, *sorted({*states} - {*TIERS})) if states[s]],
            pictures=drawn,
        )
    )


def round_end(values: Sequence[float]) -> float:
    """An end of an axis with five round steps, at or above the largest value."""
    step = max(values) / 5
    power = 10.0 ** math.floor(math.log10(step))
    return 5 * next(n * power for n in (1, 2, 4, 5, 10) if n * power >= step * (1 - 1e-9))


def _shown(row: Row, people: Mapping[str, Person]) -> dict:
    person = people.get(row.student)
    return {
        "href": "students/" + quote(row.page) if row.page else "",
        "student": row.student,
        "name": person.full_name if person else "",
        "lesson": row.lesson,
        "score": row.score,
        "max_score": row.max_score,
        "marks": marks(row),
        "epoch_s": f"{shown(row.epoch_s)} s" if row.epoch_s else "",
        "speedup": shown(row.speedup) if row.speedup else "",
        "tier": row.tier or row.status,
        "programs": "programs/" + quote(row.page) if row.page and row.programs else "",
        "notice": notice(row),
        "look": row.look,
    }
