"""Prepare the outputs of a cell for the book.

The prepared outputs are also readable in dark mode and contain no machine names.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from lessons.execute.one_lesson import ESCAPES

LONG = 30  # lines; a longer output scrolls in a box of its own

# TensorFlow's messages at its start, which are red and which no lesson mentions.
NOISE = re.compile(r"WARNING: All log messages before absl|[IWE]\d{4} [\d:.]+ +\d+ \S+\.cc:\d+\]")

# The machine that ran the lessons: its folders and its user.
PLACES = (
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*?/(?=\d\d_[a-z0-9_]+/)"), "lessons/"),
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*?/(?=\.venv\b)"), ""),
    (re.compile(r"(?<![\w.])/[^\s'\",:;()]*/site-packages/"), ".venv/lib/site-packages/"),
    (re.compile(r"(?<![\w.])/(?:home|Users|root|builds|tmp|var)/[^\s'\",:;()]*/"), "…/"),
)
ACCOUNTING = re.compile(r"^JobID\|User\|.*$", re.MULTILINE)
QUEUE = re.compile(r"^ *JOBID .*?( +USER) .*$", re.MULTILINE)


def in_the_book(outputs: list[Any], rewrite: Callable[[str], str]) -> Iterator[Any]:
    """Yield the outputs for the page.

    `rewrite` is applied to each text before it is shown.
    """
    for output in merged(outputs):
        if output["output_type"] == "stream":
            text = tidy(rewrite(output["text"]))
            if output["name"] == "stderr":
                text = "\n".join(line for line in text.split("\n") if not NOISE.match(line))
            if text.strip():
                yield output | {"text": text.strip("\n") + "\n"}
        elif "data" in output:
            yield output | {"data": shown(output["data"], rewrite), "metadata": {}}


def merged(outputs: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the outputs, with consecutive pieces of printed text joined."""
    held: dict[str, Any] = {}
    for output in map(dict, outputs):
        if held and output.get("name") == held["name"]:
            held["text"] += output["text"]
            continue
        if held:
            yield held
        held = output if output["output_type"] == "stream" else {}
        if not held:
            yield output
    if held:
        yield held


def shown(data: dict[str, Any], rewrite: Callable[[str], str]) -> dict[str, Any]:
    """Return a picture, code whose colours adapt to dark mode, or plain text."""
    if "image/png" in data:
        return {"image/png": data["image/png"]}
    text = tidy(rewrite(data.get("text/plain", "")))
    if "text/html" in data and "highlight" in data["text/html"]:  # IPython's Code
        language = "diff" if text.startswith("--- ") else "python"
        return {"text/markdown": f"````{language}\n{text.rstrip()}\n````"}
    return {"text/plain": text}


def tidy(text: str) -> str:
    text = ESCAPES.sub("", text)
    for place, instead in PLACES:
        text = place.sub(instead, text)
    return without_user(text)


def without_user(text: str) -> str:
    """Replace the user's name with `you` in tables of jobs."""
    if ACCOUNTING.search(text):
        text = re.sub(r"^(\d[\w.]*\|)[^|\n]*\|", r"\1you|", text, flags=re.MULTILINE)
    if head := QUEUE.search(text):
        end = head.end(1) - head.start()  # the column is right-aligned
        lines = [
            re.sub(r"\S+$", lambda who: "you".rjust(len(who[0])), line[:end]) + line[end:]
            if re.match(r" *\d+ ", line)
            else line
            for line in text.split("\n")
        ]
        text = "\n".join(lines)
    return text


def is_long(outputs: list[Any]) -> bool:
    """Return whether an output is too long for a reader to scroll past."""
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain") or data.get("text/markdown") or ""
        if text.count("\n") > LONG:
            return True
    return False
