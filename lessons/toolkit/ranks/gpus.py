"""Check that each rank of a node has a GPU, or end with one sentence."""

import os
import socket
import sys
from collections.abc import Mapping

from cluster.launchers import launched


def enough_gpus(in_sight: int, environ: Mapping[str, str] = os.environ) -> None:
    """End the program if this rank's own GPU is not among the visible ones.

    If there is no GPU at all, training runs on the CPU.
    """
    started = launched(environ)
    if started is None or in_sight == 0 or started.local_rank < in_sight:
        return
    seen = "1 GPU" if in_sight == 1 else f"{in_sight} GPUs"
    sys.exit(
        f"Rank {started.rank} is number {started.local_rank} on {socket.gethostname()}, counted "
        f"from 0, and sees {seen} there; each rank needs one of its own. Ask for as many GPUs per "
        "node as ranks, or for fewer ranks per node. If the node has enough, every task has to see "
        "all of them: `cluster site check` says whether the site's file does that."
    )
