"""Make feedback pages: one for each student, one for the class.

Each page is a single file without scripts or external parts. Only the class page has a few lines of
script, to sort and filter its table.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.codes import GradeStatus, Outcome
from autograder.records import Where
from autograder.report import pictures
from autograder.report.signs import LEGEND, SIGNS, points
from autograder.report.student import said_once
from autograder.report.student.next_steps import for_student, lesson_number, next_steps
from autograder.report.student.not_handed_in import Absent
from autograder.report.student.requests import Request
from autograder.submissions.quoted import AROUND
from autograder.verdict import NO_LESSON, Check, Grade, Part, Point
from autograder.wording import sentence, shown

OPERATOR = re.compile(r"(?<!\S)([<>≤≥=]+) (?=\S)")
CODE = re.compile(r"`([^`\n]+)`")


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
        said_once=said_once,
        quotes_in=quotes_in,
        lesson_number=lesson_number,
        for_student=for_student,
        draw=pictures,
    )
    env.filters["coded"] = coded
    env.filters["sentence"] = sentence
    env.tests["false"] = lambda value: value is False
    return env


def coded(text: str) -> Markup:
    """Mark text between backticks as code, after escaping it."""
    escaped = escape(text)
    return Markup(CODE.sub(r"<code>\1</code>", str(escaped))) if "`" in text else escaped


def curves(grade: Grade) -> list[tuple[str, list[tuple[int, Point]]]]:
    """Return speedups by number of workers for every program that ran at several sizes."""
    curves_ = []
    finished = [r for r in grade.runs if r.outcome == Outcome.COMPLETED]
    for name in sorted({r.program for r in finished}):
        same = [r for r in finished if r.program == name]
        line = [(r.workers, r.speedup) for r in same if r.speedup and (r.workers or 0) > 1]
        if line and any(r.workers == 1 for r in same):
            sizes = [(workers, p) for workers, p in line if workers is not None]
            curves_.append((name, [(1, Point(1.0, 1.0, 1.0)), *sizes]))
    return curves_


def met(check: Check) -> list[tuple[str, str]]:
    """Return the values found for a passed check, each with the required value.

    For answers, return only their number.
    """
    parts = {part.found: part for part in reversed(check.parts)}  # of equal ones, the first
    if check.found != "; ".join(dict.fromkeys(part.found for part in check.parts)):
        return [(check.found, "")]
    return [(part.found, required(part)) for part in reversed(parts.values())]


def required(part: Part) -> str:
    """Return the required value, with a non-breaking space after an operator such as `>`."""
    text = part.expected.removeprefix(f"{part.name}: ").partition(" (run `")[0]
    return OPERATOR.sub("\\1\N{NO-BREAK SPACE}", text)


def quotes_in(grade: Grade) -> Callable[[Iterable[Where]], Markup]:
    """Return a function that quotes the output lines at given places, if there are any.

    The lines are in a collapsed block.
    """
    lines = {(one.file, one.line): escape(one.text) for one in grade.quoted}

    def quote(places: Iterable[Where]) -> Markup:
        meant = [(one.file, one.line) for one in places if (one.file, one.line) in lines]
        if not meant:
            return Markup()
        near = {
            (file, at) for file, line in meant for at in range(line - AROUND, line + AROUND + 1)
        }
        parts, files = list[str](), set[str]()
        for key in sorted(near & lines.keys()):
            if key[0] not in files:
                parts.append(f'<p class="dim"><code>{escape(key[0])}</code></p>')
                files.add(key[0])
            kind = "meant" if key in meant else "dim"
            parts.append(f'<pre class="{kind}"><b>{key[1]}</b> {lines[key]}</pre>')
        text = "the line of the output" if len(set(meant)) == 1 else "the lines of the output"
        return Markup(f'<details class="quote"><summary>{text}</summary>{"".join(parts)}</details>')

    return quote


Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]


def student_page(
    name: str,
    grades: Sequence[Grade],
    references: Curves,
    asked: Sequence[Request] = (),
    absent: Sequence[Absent] = (),
    heading: str = "Grades",
) -> str:
    """Return the page of a student.

    Hidden checks count but are not shown. `absent` contains the lessons that were not submitted.
    """
    shared = said_once.in_several_lessons(grades)
    return (
        environment()
        .get_template("student.html.j2")
        .render(
            heading=heading,
            student=name,
            grades=grades,
            references=references,
            total=sum(g.score or 0 for g in grades),
            most=sum(g.max_score for g in grades if is_counted(g))
            + sum(one.points for one in absent),
            smoke=any(g.profile == "smoke" for g in grades),
            steps=next_steps(grades),
            done=any(g.status == GradeStatus.GRADED for g in grades)
            and not any(for_student(f) for g in grades for f in said_once.public(g)),
            lessons=sum(map(is_counted, grades)) + sum(one.points > 0 for one in absent),
            all_excused=all(grade.status == GradeStatus.EXCUSED for grade in grades),
            absent=absent,
            shared=shared,
            alike=said_once.adjusted_alike(grades),
            many=len(grades) > MANY,
            asked=asked,
            noticed=lambda grade: said_once.findings_of_lesson(grade, shared),
            check_marks=check_marks,
        )
    )


def is_counted(grade: Grade) -> bool:
    """Return whether a lesson counts towards the total possible points, as on the class page."""
    counts = grade.score is not None or grade.status == GradeStatus.MISSING
    return counts and grade.lesson not in (NO_LESSON, "?")


MANY = 2  # lessons; with more, the details are folded away


def check_marks(grade: Grade) -> str:
    return " ".join(SIGNS.get(c.status, "!") for c in grade.checks if c.points and not c.hidden)
