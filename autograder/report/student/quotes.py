"""Show, in a collapsed block, the output lines that a measure comes from."""

from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from autograder.records import Where
from autograder.submissions.quoted import AROUND
from autograder.verdict import Grade


def quotes_in(grade: Grade) -> Callable[[Iterable[Where]], Markup]:
    """Return a function that quotes the output lines at given places, if there are any."""
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
