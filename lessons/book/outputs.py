"""Prepare the outputs of a cell for the book.

The prepared outputs are also readable in dark mode and contain no folders of the machine.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from lessons.execute.one_lesson import ESCAPES

SLIDERS = '<div class="pipeline-sliders">'  # the course's own picture that moves

# TensorFlow's messages at its start, which are red and which no lesson mentions.
NOISE = re.compile(
    r"^(?:WARNING: All log messages before absl|[IWE]\d{4} [\d:.]+ +\d+ \S+\.cc:\d+\]).*\n?",
    re.MULTILINE,
)
# The folders of the machine that ran the lessons.
PLACES = (
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*?/(?=\d\d_[a-z0-9_]+/)"), "lessons/"),
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*?/(?=\.venv\b)"), ""),
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*/site-packages/"), ".venv/lib/site-packages/"),
    (re.compile(r"(?<![\w.])/(?:home|Users|root|builds|tmp|var)/[^\s'\",:;()]*/"), "…/"),
)


def in_the_book(outputs: list[Any], rewrite: Callable[[str], str]) -> Iterator[Any]:
    """Yield the outputs for the page, with consecutive pieces of printed text joined.

    `rewrite` is applied to each text before it is shown.
    """
    for stream, pieces in groupby(map(dict, outputs), lambda output: output.get("name")):
        if stream is None:
            yield from (
                output | {"data": shown(output["data"], rewrite), "metadata": {}}
                for output in pieces
                if "data" in output
            )
            continue
        together = list(pieces)
        text = tidy(rewrite("".join(output["text"] for output in together)))
        text = (NOISE.sub("", text) if stream == "stderr" else text).strip("\n")
        if text.strip():
            yield together[0] | {"text": f"{text}\n"}


def shown(data: dict[str, Any], rewrite: Callable[[str], str]) -> dict[str, Any]:
    """Return a picture, sliders, code whose colours adapt to dark mode, or plain text."""
    if "image/png" in data:
        return {"image/png": data["image/png"]}
    text = tidy(rewrite(data.get("text/plain", "")))
    html = data.get("text/html", "")
    if html.startswith(SLIDERS):
        return {"text/html": html}
    if "highlight" in html:  # IPython's Code
        language = "diff" if text.startswith("--- ") else "python"
        return {"text/markdown": f"````{language}\n{text.rstrip()}\n````"}
    return {"text/plain": text}


def tidy(text: str) -> str:
    text = ESCAPES.sub("", text)
    for place, instead in PLACES:
        text = place.sub(instead, text)
    return text
