"""Print to the error output why a student's function could not be measured.

For such a function, the run record gets the worst possible number.
"""

import sys


def tell(what: str, error: Exception) -> None:
    reason = " ".join(str(error).split())[:200]
    print(f"{what} could not be measured: {type(error).__name__}: {reason}", file=sys.stderr)
