"""The message about a student's function that cannot answer, for a job's error output.

Its number is then the worst possible one.
"""

import sys


def tell(what: str, error: Exception) -> None:
    reason = " ".join(str(error).split())[:200]
    print(f"{what} could not be measured: {type(error).__name__}: {reason}", file=sys.stderr)
