"""The first lines of a run's record: the program's settings and its participants."""

import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from lessons.toolkit.record import devices, facts
from lessons.toolkit.record.mllog import short

RECORD_VERSION = 1


def settings(args: Any) -> dict[str, Any]:
    """Return the settings from an argparse namespace or from a dictionary with the same names."""
    if isinstance(args, Mapping):
        return dict(args)
    return dict(vars(args)) if args else {}


def header(
    lesson: str,
    source: str,
    asked: Mapping[str, Any],
    size: int,
    params: int | None,
    dataset: Mapping[str, Any] | None,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the header's facts from the program's settings.

    `more` adds facts, or replaces facts that the settings do not report correctly.
    """
    told: dict[str, Any] = {
        "lesson": lesson,
        "program": os.path.basename(sys.argv[0]),
        "source": source,
        "record_version": RECORD_VERSION,
        "framework": facts.framework(source),
        "model": asked.get("model"),
        "params": params,
        "precision": asked.get("precision", "float32"),
        "world_size": size,
        "ranks_asked": facts.ranks_asked(os.environ),
        "scaling": asked.get("scaling", "serial" if size == 1 else "epoch"),
        "local_batch": asked.get("batch_size"),
        "optimizer": asked.get("optimizer"),
        "lr": asked.get("lr"),
        "lr_base": asked.get("lr"),
        "seed": asked.get("seed"),
        "epochs_asked": asked.get("epochs"),
        "dataset": dataset,
        **more,
    }
    local_batch = told["local_batch"]
    told.setdefault("global_batch", local_batch and local_batch * size)
    told["lr"] = short(told["lr"])
    return told


def participant(
    rank: int, local_rank: int, framework: str, share: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a rank's presence line: its number, its device, and its share of the data."""
    name, number = devices.device(framework), devices.device_number(framework, os.environ)
    return {
        "rank": rank,
        "local_rank": local_rank,
        "host": socket.gethostname(),
        "device": f"{name} #{number}" if number else name,
        **share,
    }
