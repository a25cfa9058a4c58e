"""Feedback as pages: one for each student, one for the class. Each is one file without scripts
or parts elsewhere; only sorting and filtering the class table takes a few lines of script."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.case import shown
from autograder.harmless import file_name
from autograder.report import pictures
from autograder.report.files import write_if_new
from autograder.report.terminal import LEGEND, SIGNS, marks, notice, points
from autograder.verdict import TIERS, Grade, Point


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
        epoch_bars=pictures.epoch_bars,
        speedup_curve=pictures.speedup_curve,
    )
    env.tests["false"] = lambda value: value is False
    return env


def curves(grade: Grade) -> list[tuple[str, list[tuple[int, Point]]]]:
    """Speedup over workers for every program that ran on more than one size."""
    found = []
    finished = [r for r in grade.runs if r.outcome == "completed"]
    for name in dict.fromkeys(r.name for r in finished):
        same = [r for r in finished if r.name == name]
        line = [(r.workers, r.speedup) for r in same if r.speedup and (r.workers or 0) > 1]
        if line and any(r.workers == 1 for r in same):
            sizes = [(workers, p) for workers, p in line if workers is not None]
            found.append((name, [(1, Point(1.0, 1.0, 1.0)), *sizes]))
    return found


def page_name(student: str) -> str:
    return f"{file_name(student)}.html"


def student_page(student: str, grades: Sequence[Grade]) -> str:
    """All lessons of a student. Hidden checks count in the sum and are not shown."""
    return (
        environment()
        .get_template("student.html.j2")
        .render(
            student=student,
            grades=grades,
            total=sum(g.score or 0 for g in grades),
            most=sum(g.max_score for g in grades),
            smoke=any(g.profile == "smoke" for g in grades),
        )
    )


def class_page(grades: Sequence[Grade]) -> str:
    rows = [_row(g) for g in grades]
    lessons = sorted({g.lesson for g in grades if g.score is not None})
    tiers = Counter(g.tier for g in grades)
    drawn = []
    for lesson in lessons:
        same = [g for g in grades if g.lesson == lesson and g.score is not None]
        scores = [g.score for g in same if g.score is not None]
        most = max(g.max_score for g in same)
        label = f"{lesson} {same[0].title}: {len(scores)} submissions"
        drawn.append((label, pictures.histogram(scores, most, "points")))
    return (
        environment()
        .get_template("class.html.j2")
        .render(
            students=len({g.student for g in grades}),
            rows=rows,
            looks=[row for row in rows if row["look"]],
            tiers=[(tier, tiers[tier]) for tier in TIERS if tiers[tier]],
            pictures=drawn,
        )
    )


def _row(grade: Grade) -> dict:
    counted = [r for r in grade.runs if r.counted and r.epoch_s]
    speedups = [r.speedup.value for r in grade.runs if r.speedup]
    return {
        "href": "students/" + quote(page_name(grade.student)),
        "student": grade.student,
        "lesson": grade.lesson,
        "score": grade.score,
        "max_score": grade.max_score,
        "marks": marks(grade),
        "epoch_s": f"{shown(counted[0].epoch_s.value)} s" if counted and counted[0].epoch_s else "",
        "speedup": shown(max(speedups)) if speedups else "",
        "tier": grade.tier if grade.status == "graded" else grade.status,
        "notice": notice(grade),
        "look": grade.look,
    }


def write(grades: Sequence[Grade], out: Path) -> None:
    for student, theirs in groupby(grades, key=lambda g: g.student):
        write_if_new(out / "students" / page_name(student), student_page(student, list(theirs)))
    write_if_new(out / "index.html", class_page(grades))
