"""Let a program record whether a student's function passes its public check."""

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed


def check_fails(check: Callable[..., None], *students: Any) -> int:
    """Return 1 if the check fails, else 0. Print the reason to the error output."""
    try:
        with contextlib.redirect_stdout(None):
            check(*students)
    except CheckFailed as failed:
        print(failed, file=sys.stderr, flush=True)
        return 1
    return 0
