"""Write a run's results for people and CI: pages, summary.json, junit.xml, and the last lines."""

import functools
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
from lessons.folders import notebook_in


@functools.cache
def page_maker() -> Any:
    """Return nbconvert's exporter, and load it while the first kernels start."""
    import nbformat
    from nbconvert import HTMLExporter

    exporter, new = HTMLExporter(), nbformat.v4
    cells = [new.new_markdown_cell("# warm up"), new.new_code_cell("x = 1")]
    exporter.from_notebook_node(new.new_notebook(cells=cells))
    return exporter


def write_page(out: Path, outcome: LessonOutcome) -> None:
    """Write the executed notebook as one HTML file, even after a failure."""
    import nbformat

    notebook = nbformat.read(notebook_in(out / outcome.lesson), as_version=4)
    page, _ = page_maker().from_notebook_node(notebook, {"metadata": {"name": outcome.lesson}})
    (out / f"{outcome.lesson}.html").write_text(page, encoding="utf-8")


def stand_ins(out: Path, lesson: str) -> list[str]:
    """Return the data sets that a lesson's jobs replaced by stand-ins, from their records."""
    folders = (out / lesson, out / f"{lesson}_job" / lesson)  # the second one with --batch
    outputs = [file for folder in folders for file in sorted(folder.rglob("*.out"))]
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
    tree = ElementTree.ElementTree(junit(outcomes, facts))
    ElementTree.indent(tree)
    tree.write(out / "junit.xml", encoding="utf-8", xml_declaration=True)


def junit(outcomes: list[LessonOutcome], facts: dict[str, Any]) -> ElementTree.Element:
    """Return JUnit XML with one test case per lesson.

    `failure` is a fault of the lesson, `error` one of the runner.
    """
    failures = sum(outcome.status in ("failed", "timed out") for outcome in outcomes)
    errors = sum(outcome.status == "error" for outcome in outcomes)
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(sum(outcome.status == "stopped" for outcome in outcomes)),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "lessons", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", name=name, value=xml_text(value))
    for outcome in outcomes:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"lessons.{facts.get('edition', 'lessons')}",
            name=outcome.lesson,
            time=f"{outcome.seconds:.3f}",
        )
        kind = {"passed": "", "stopped": "skipped", "error": "error"}.get(outcome.status, "failure")
        if kind == "skipped":
            ElementTree.SubElement(case, kind, message=xml_text(outcome.error))
        elif kind:
            element = ElementTree.SubElement(
                case, kind, message=xml_text(outcome.error), type=outcome.status
            )
            element.text = xml_text("\n".join(explain(outcome)))
    return suites


def xml_text(value: Any) -> str:
    """Return text without the control characters that XML cannot contain."""
    return "".join(c for c in str(value) if c in "\n\t" or ord(c) >= 32)


def explain(outcome: LessonOutcome) -> Iterator[str]:
    """Yield lines that say where and why a lesson failed, and what it printed last."""
    if outcome.failed_cell is not None:
        yield f"cell {outcome.failed_cell}: {outcome.failed_line}"
    yield outcome.error
    for line in outcome.last_lines:
        yield f"  | {line}"
