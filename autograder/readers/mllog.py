"""MLPerf's tagged lines: how one line is decoded, strictly."""

import json
from typing import Any

TAG = b":::MLLOG "
LONGEST = 1 << 16


class BadLineError(ValueError):
    """A tagged line that cannot be trusted; the message is for the student."""


def decode(payload: bytes) -> dict[str, Any]:
    """The JSON object of a tagged line. Members named twice and NaN are refused, not resolved."""
    if len(payload) > LONGEST:
        raise BadLineError(f"the record line is longer than {LONGEST} bytes")
    try:
        event = DECODER.decode(payload.decode("utf-8"))
    except BadLineError:
        raise
    except RecursionError:
        raise BadLineError("the record line is nested too deeply") from None
    except ValueError:
        raise BadLineError("the record line is damaged: it is not a whole JSON object") from None
    if not isinstance(event, dict):
        raise BadLineError("the record line is not a JSON object")
    return event


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadLineError("the record line names a member twice")
    return members


def refuse(constant: str) -> None:
    raise BadLineError(f"the record line has the bare word {constant}, which is no JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=unique, parse_constant=refuse)
