"""Fill the templates of pages and of texts such as class.yaml, and format parts of a grade."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.codes import CheckStatus
from autograder.safe_text import printable
from autograder.settings.roster import Person
from autograder.verdict import WAITS, Grade
from autograder.wording import counted, sentence, shown

PAGES = "students"  # the folder of their pages
SIGNS: dict[str, str] = dict(zip(CheckStatus, "✗?…◐≈✓", strict=True))
Titles = Mapping[str, Mapping[str, str]]  # lesson -> check -> title
LEGEND = (
    "✓ passed  ≈ borderline, full credit  ◐ some of the points  ✗ missed  ? not measured  "
    "… waits for the instructor"
)


def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def standing(earned: float, most: float, waiting: float) -> str:
    """State the points that are earned, those that wait for the instructor, and those missing."""
    have = round(earned + waiting, 2)
    lost = round(most - have, 2)  # the two numbers add up
    how = "if the instructor agrees" if waiting >= 0.005 else "earned"
    not_yet = f", {points(lost)} not yet" if lost > 0 else ""
    return f"{points(have)} of {counted(most, 'point')} {how}{not_yet}"


def standing_of(row: Grade) -> str:
    """Return the standing of a lesson with points that wait for the instructor, or ""."""
    waits = row.waiting and row.score is not None
    return standing(row.score or 0.0, row.max_score + row.waiting, row.waiting) if waits else ""


def before_rounding(row: Grade) -> str:
    return "" if row.unrounded is None else f"{points(row.unrounded)} before rounding"


def full_name(student: str, people: Mapping[str, Person]) -> str:
    """Return the student's full name from the roster, or else the name in the grades."""
    return printable(people.get(student, Person(student)).full_name or student)


def check_line(sign: str, score: float, most: float, title: str) -> str:
    worth = f"{points(score)}/{points(most)}" if most else "info"
    return f"  {sign} {worth:>9}  {title}"


def notice(row: Grade) -> str:
    """Return the first reason to look, or the checks that lost points, followed by adjustments."""
    first = ""
    if row.look:
        first = str(row.look[0]) + (f" and {len(row.look) - 1} more" if len(row.look) > 1 else "")
    elif row.raw_score == (row.score if row.unrounded is None else row.unrounded):
        missed = [c.id for c in row.checks if c.score < c.points and c.status != WAITS]
        first = ("lost points: " + ", ".join(missed)) if missed else ""
    # If times are missing, one message reports it for all rows.
    return "; ".join(filter(None, (first, *row.for_instructor)))


CODE = re.compile(r"`([^`\n]+)`")
PLAIN = (".txt.j2", ".yaml.j2")  # everything else is HTML, and is escaped


@cache
def environment() -> Environment:
    env = Environment(
        loader=PackageLoader("autograder.report"),
        autoescape=lambda name: name is None or not name.endswith(PLAIN),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    source = env.loader.get_source(env, "style.css")[0]  # type: ignore[union-attr]
    functions: list[Callable] = [points, counted, shown, before_rounding, standing_of]
    env.globals.update({function.__name__: function for function in functions})
    env.globals.update(style=Markup(source), signs=SIGNS, legend=LEGEND)
    env.filters.update(coded=coded, sentence=sentence)
    return env


def render(template: str, **facts: Any) -> str:
    return environment().get_template(template).render(facts)


def coded(text: str) -> Markup:
    """Mark text between backticks as code, after escaping it."""
    escaped = escape(text)
    return Markup(CODE.sub(r"<code>\1</code>", str(escaped))) if "`" in text else escaped
