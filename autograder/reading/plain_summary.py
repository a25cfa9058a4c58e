"""Summarise a run in plain types, for `autograder read --json` (docs/grading.md)."""

from statistics import median
from typing import Any

from autograder.records import Number, Run


def summary(run: Run) -> dict[str, Any]:
    """Return the JSON members that `autograder read --json` prints. None means unknown."""
    seconds = [plain_value(epoch.seconds) for epoch in run.epochs]
    later = [value for value in seconds[1:] if value is not None]
    checks = [epoch.val_accuracy.value for epoch in run.epochs if epoch.val_accuracy]
    last = run.unfinished or (run.epochs[-1] if run.epochs else None)
    final = run.epochs[-1] if run.epochs else None
    return {
        "files": list(run.files),
        "format": run.format,
        "outcome": run.outcome,
        "workers": run.workers,
        "job_id": run.job_id,
        "epochs": None if run.sparse else len(run.epochs) or None,
        "epoch_seconds": seconds if any(value is not None for value in seconds) else [],
        "epoch_seconds_median_after_first": median(later) if later else None,
        "final_train_accuracy": plain_value(final.train_accuracy if final else None),
        "final_val_accuracy": plain_value(final.val_accuracy if final else None),
        "best_val_accuracy": max(checks, default=None),
        "test_accuracy": plain_value(run.test_accuracy),
        "final_train_loss": plain_value(last.train_loss if last else None),
        "throughput": throughput(run),
        "problems": [
            {"file": where.file, "line": where.line, "text": note.actual, "reason": note.title}
            for note in run.problems
            for where in note.where
        ],
    }


def plain_value(number: Number | None) -> float | None:
    return None if number is None else number.value


def throughput(run: Run) -> float | None:
    """Return the printed throughput, otherwise that of the median epoch after the first."""
    if run.throughput is not None:
        return run.throughput.value
    later = run.epochs[1:]
    if rates := [epoch.throughput.value for epoch in later if epoch.throughput]:
        return median(rates)
    timed = [(e.unique_samples, e.seconds.value) for e in later if e.unique_samples and e.seconds]
    seconds = median(value for _, value in timed) if timed else 0
    return median(samples for samples, _ in timed) / seconds if seconds > 0 else None
