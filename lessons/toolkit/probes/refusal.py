"""What a job's errors say of a function that cannot answer; its number is the worst then."""

import sys


def tell(what: str, error: Exception) -> None:
    reason = " ".join(str(error).split())[:200]
    print(f"{what} could not be measured: {type(error).__name__}: {reason}", file=sys.stderr)
