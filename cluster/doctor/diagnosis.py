"""The result of a probe: a state, a sentence, and what to do."""

import socket
from dataclasses import dataclass, field
from typing import Any

OK, LOOK, BROKEN = "ok", "look", "broken"
STATES = (OK, LOOK, BROKEN)


@dataclass(frozen=True)
class Diagnosis:
    state: str
    found: str
    advice: str = ""  # empty if the state is ok
    facts: dict[str, Any] = field(default_factory=dict)  # numbers and names, for --json
    probe: str = ""  # filled in by the caller of the probe


def ok(found: str, **facts: Any) -> Diagnosis:
    return Diagnosis(OK, found, facts=facts)


def look(found: str, advice: str, **facts: Any) -> Diagnosis:
    return Diagnosis(LOOK, found, advice, facts)


def broken(found: str, advice: str, **facts: Any) -> Diagnosis:
    return Diagnosis(BROKEN, found, advice, facts)


def node_name() -> str:
    return socket.gethostname().partition(".")[0]
