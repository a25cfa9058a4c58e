"""The run record: one tagged JSON line for each event of a training run (docs/run-record.md)."""

from lessons.toolkit.record.run import Run

__all__ = ["Run"]
