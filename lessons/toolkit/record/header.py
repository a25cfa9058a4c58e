"""Refuse settings that no training can have."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
