"""Write a run's results: summary.json, junit.xml, and the last lines of each failure."""

import json
import socket
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from autograder.reading.files import read_files
from lessons.execute.one_lesson import LessonOutcome

JUNIT = {"passed": "", "stopped": "skipped", "error": "error"}  # everything else is a failure
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def stand_ins(out: Path, lesson: str) -> list[str]:
    """Return the data sets that a lesson's jobs replaced by stand-ins, from their records."""
    outputs = sorted((out / lesson).rglob("*.out"))
    sets = [run.header.dataset for run in read_files(outputs)]
    return sorted({str(dataset.name).upper() for dataset in sets if dataset.synthetic})


def write_summary(out: Path, outcomes: list[LessonOutcome], facts: dict[str, Any]) -> None:
    outcomes = sorted(outcomes, key=lambda outcome: outcome.lesson)
    summary = {
        **facts,
        "host": socket.gethostname(),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "passed": sum(outcome.status == "passed" for outcome in outcomes),
        "lessons": [asdict(outcome) for outcome in outcomes],
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    write_junit(out / "junit.xml", outcomes, str(facts.get("edition", "lessons")))


def write_junit(file: Path, outcomes: list[LessonOutcome], edition: str) -> None:
    """Write JUnit XML, with a test case for each lesson. `error` is a fault of the runner."""
    kinds = [JUNIT.get(outcome.status, "failure") for outcome in outcomes]
    suite = ElementTree.Element("testsuite", name="lessons", tests=str(len(kinds)))
    for name, kind in COUNTED.items():
        suite.set(name, str(kinds.count(kind)))
    for outcome, kind in zip(outcomes, kinds, strict=True):
        seconds = f"{outcome.seconds:.3f}"
        case = ElementTree.SubElement(
            suite, "testcase", classname=edition, name=outcome.lesson, time=seconds
        )
        if kind:
            reason = ElementTree.SubElement(case, kind, message=xml_text(outcome.error))
            reason.text = xml_text("\n".join(explain(outcome)))
    ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)


def xml_text(text: str) -> str:
    """Return text without the control characters that XML cannot contain."""
    return "".join(letter for letter in text if letter in "\n\t" or letter >= " ")


def explain(outcome: LessonOutcome) -> Iterator[str]:
    """Yield lines that say where and why a lesson failed, and what it printed last."""
    if outcome.failed_cell is not None:
        yield f"cell {outcome.failed_cell}: {outcome.failed_line}"
    yield outcome.error
    for line in outcome.last_lines:
        yield f"  | {line}"
