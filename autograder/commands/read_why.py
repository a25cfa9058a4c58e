"""`autograder read --why`: each fact of a run with the line and the rule that it is from."""

from collections.abc import Iterator, Sequence
from typing import Any

from autograder.reading.explain.why import Reason, reasons, texts
from autograder.records import Run
from autograder.safe_text import printable

LONGEST_TEXT = 90


def why_lines(runs: Sequence[Run]) -> Iterator[str]:
    """What is printed, line by line."""
    for number, run in enumerate(runs):
        if number:
            yield ""
        yield ", ".join(run.files)
        found = reasons(run)
        said = texts(run.files, [reason.where for reason in found if reason.where is not None])
        for reason in found:
            yield from lines_of(reason, said.get(reason.where, "") if reason.where else "")


def lines_of(reason: Reason, text: str) -> Iterator[str]:
    name = reason.fact.replace("_", " ")
    if reason.value is None:
        yield f"  {name}: not read"
    else:
        yield f"  {name}: {shown(reason.value)}"
    if reason.where is not None:
        yield f"      {reason.where.file}:{reason.where.line}: {printable(text, LONGEST_TEXT)}"
    yield f"      {reason.rule}"


def shown(value: Any) -> str:
    if isinstance(value, list):
        cut = value if len(value) <= 6 else [*value[:4], "…", value[-1]]
        return " ".join(shown(item) for item in cut)
    return f"{value:.6g}" if isinstance(value, float) else "?" if value is None else str(value)
