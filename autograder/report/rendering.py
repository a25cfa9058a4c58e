"""Fill templates: pages, and texts such as class.yaml and scripts."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.report.signs import LEGEND, SIGNS, before_rounding, changed_line, points
from autograder.wording import counted, sentence, shown

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
    functions: list[Callable] = [points, counted, shown, changed_line, before_rounding]
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
