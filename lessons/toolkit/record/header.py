"""The facts in a record's header that come from the program's settings."""

import os
from collections.abc import Mapping
from typing import Any

from lessons.toolkit.record import facts
from lessons.toolkit.record.run_record import short


def settings(args: Any) -> dict[str, Any]:
    """Return the settings from an argparse namespace or from a dictionary with the same names."""
    if isinstance(args, Mapping):
        return dict(args)
    return dict(vars(args)) if args else {}


def header(asked: Mapping[str, Any], size: int, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header's facts, taken from the program's settings.

    `more` adds facts, or replaces facts that the settings do not report correctly.
    """
    known: dict[str, Any] = {
        "model": asked.get("model"),
        "precision": asked.get("precision", "float32"),
        "ranks_asked": facts.ranks_asked(os.environ),
        "scaling": asked.get("scaling", "serial" if size == 1 else "epoch"),
        "local_batch": asked.get("batch_size"),
        "optimizer": asked.get("optimizer"),
        "lr": asked.get("lr"),
        "lr_base": asked.get("lr"),
        "seed": asked.get("seed"),
        "epochs_asked": asked.get("epochs"),
        **more,
    }
    return known | {"lr": short(known["lr"])}
