"""Other people's outputs, which are kept outside the repository, and the true facts of each.

COURSE_LOGS names their folder. Without it, `logs` beside COURSE_DATA's folder and `../shared/logs`
are tried. Its `expected.json` lists the true facts. Null means that the output does not show the
fact, so a reader that reports a value is wrong.
"""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.reading.files import read_files
from autograder.reading.line_facts import Reader
from autograder.reading.plain_summary import summary
from autograder.records import Run


def logs_folder() -> Path | None:
    if "COURSE_LOGS" in os.environ:
        return Path(os.environ["COURSE_LOGS"])
    beside = [Path(__file__).parents[4] / "shared" / "logs"]
    if "COURSE_DATA" in os.environ:
        beside.append(Path(os.environ["COURSE_DATA"]).parent / "logs")
    return next((folder for folder in beside if (folder / "expected.json").exists()), None)


LOGS = logs_folder()

Summary = dict[str, Any]


# The facts of expected.json, and where `autograder read --json` has another name for one.
FACTS = (
    *("epochs", "epoch_seconds", "epoch_seconds_first", "epoch_seconds_last"),
    *("epoch_seconds_median_excl_first", "final_train_accuracy", "final_val_accuracy"),
    *("final_train_loss", "final_val_loss", "best_val_accuracy", "test_accuracy", "test_loss"),
    *("total_seconds", "train_total_seconds", "run_seconds", "throughput_median_excl_first"),
    *("workers", "job_id"),
)
CALLED = {
    "epoch_seconds_median_excl_first": "epoch_seconds_median_after_first",
    "train_total_seconds": "total_seconds",
    "run_seconds": "total_seconds",
    "throughput_median_excl_first": "throughput",
}


def fact(read: Summary, name: str) -> Any:
    if name in ("epoch_seconds_first", "epoch_seconds_last"):
        seconds = read.get("epoch_seconds") or [None]
        return seconds[0 if name.endswith("first") else -1]
    return read.get(CALLED.get(name, name))


# The outcome that the output alone shows, where expected.json also uses the job's other file.
ALONE = {"051": "completed"}
CLOSE = 1e-3


@dataclass(frozen=True, slots=True)
class Row:
    """The quality of reading one file."""

    file: str
    right: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    outcome: str = ""  # right, unrecognised or wrong
    said: str = ""  # the outcome that was read


def rows(logs: Path) -> list[Row]:
    entries = json.loads((logs / "expected.json").read_text())
    return [judge(logs, entry) for entry in sorted(entries, key=lambda entry: entry["id"])]


def judge(logs: Path, entry: dict[str, Any], formats: Sequence[Reader] = ()) -> Row:
    read = [full_summary(run) for run in read_files([logs / entry["file"]], formats)]
    outcome, said = judge_outcome(entry, read)
    row = Row(entry["file"], outcome=outcome, said=said)
    for name, true, found in asked(entry, read):
        if true is None and found in (None, []):
            continue
        if found in (None, []) or (isinstance(found, list) and None in found):
            row.silent.append(name)
        else:
            (row.right if same(true, found) else row.wrong).append(name)
    return row


def full_summary(run: Run) -> Summary:
    """Return what `autograder read --json` reports, and a few more numbers of a run."""
    last = run.epochs[-1] if run.epochs else run.unfinished
    numbers = {"test_loss": run.test_loss, "total_seconds": run.total_seconds}
    numbers["final_val_loss"] = last and last.val_loss
    return {name: number and number.value for name, number in numbers.items()} | summary(run)


def asked(entry: dict[str, Any], read: list[Summary]) -> list[tuple[str, Any, Any]]:
    """Return (fact, true value, value read). Of several runs, both are lists."""
    says = entry["expected"]
    if all(run["format"] == "unknown" for run in read):
        read = [{**run, "epochs": None} for run in read]
    elif entry["id"] == "032":
        first = dict(says["first_run"])
        first["final_train_accuracy"] = first.pop("final_train_accuracy_percent") / 100
        facts = [(name, first[name], fact(read[0], name)) for name in first]
        epochs = [run["epochs"] for run in read]
        return [*facts, ("runs", says["runs"], len(read)), ("epochs", [5] * 16, epochs)]
    elif isinstance(says.get("runs"), list):
        runs = [{**run, "workers": run["gpus"], "epochs": 3} for run in says["runs"]]
        names = [name for name in FACTS if name in runs[0]]
        facts = [(n, [run[n] for run in runs], [fact(r, n) for r in read]) for n in names]
        return [("runs", len(runs), len(read)), *facts]
    return [(name, says[name], fact(read[0], name)) for name in FACTS if name in says]


def judge_outcome(entry: dict[str, Any], read: list[Summary]) -> tuple[str, str]:
    found = [run["outcome"] for run in read]
    said = " ".join(f"{found.count(word)} {word}" for word in dict.fromkeys(found))
    said = said.removeprefix("1 ") if len(read) == 1 else said
    accepted = {entry["expected"]["outcome"], ALONE.get(entry["id"])}
    if "cancelled" in entry["expected"].get("outcome_detail", ""):
        accepted = {"cancelled"}
    if set(found) <= accepted:
        return "right", said
    return "unrecognised" if "unknown" in found else "wrong", said


def same(true: Any, found: Any) -> bool:
    if isinstance(true, list):
        pairs = zip(true, found, strict=False)
        return len(found) == len(true) and all(same(t, f) for t, f in pairs)
    if isinstance(true, str) or true is None or found is None:
        return bool(true == found)
    return math.isclose(true, found, rel_tol=CLOSE, abs_tol=1e-9)
