"""How all ranks leave a program that cannot run: one sentence, once."""

import sys
from typing import NoReturn


def leave(rank: int, why: str) -> NoReturn:
    """On every rank: rank 0 says why and fails. The others leave in silence and do not fail: a
    launcher ends all ranks with the first that fails, at times before rank 0 has spoken."""
    sys.exit(why if rank == 0 else 0)
