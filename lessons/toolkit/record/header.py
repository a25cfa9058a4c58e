"""The facts in a record's header that come from the program's settings."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lessons.toolkit.record import facts
from lessons.toolkit.record.run_record import short


def settings(args: Any) -> dict[str, Any]:
    """Return the settings from an argparse namespace or from a dictionary with the same names."""
    if isinstance(args, Mapping):
        return dict(args)
    return dict(vars(args)) if args else {}


# Settings that are at least 1 in every program.
COUNTS = ("epochs", "batch_size", "global_batch", "micro_batches", "accumulate", "length")


def refuse_zeros(asked: Mapping[str, Any], rank: int) -> None:
    """End the program on all ranks if a setting that must be a count is below 1.

    Only rank 0 fails and says why, as in ranks/leaving.py.
    """
    for name in COUNTS:
        number = asked.get(name)
        if isinstance(number, int) and number < 1:
            option = name.replace("_", "-")
            why = f"{Path(sys.argv[0]).name}: --{option} {number}: ask for 1 or more."
            sys.exit(0 if rank else why)


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
    if chosen := os.environ.get("COURSE_DEVICE"):
        known["device_asked"] = chosen
    return known | {"lr": short(known["lr"])}
