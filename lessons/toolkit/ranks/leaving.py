"""End a program on all ranks with one sentence, printed once."""

import sys
from typing import NoReturn


def leave(rank: int, why: str) -> NoReturn:
    """End the program; call this on every rank.

    Rank 0 prints the reason and fails. The other ranks end silently and without an error, because a
    launcher ends all ranks when one fails, possibly before rank 0 has printed anything.
    """
    sys.exit(why if rank == 0 else 0)
