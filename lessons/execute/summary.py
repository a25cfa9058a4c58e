"""Write a run's results: summary.json, and the last lines of each failure."""

import json
import socket
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.reading.files import read_files
from lessons.execute.one_lesson import LessonOutcome


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


def explain(outcome: LessonOutcome) -> Iterator[str]:
    """Yield lines that say where and why a lesson failed, and what it printed last."""
    if outcome.failed_cell is not None:
        yield f"cell {outcome.failed_cell}: {outcome.failed_line}"
    yield outcome.error
    for line in outcome.last_lines:
        yield f"  | {line}"
