"""What a probe found: one state, one sentence, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

OK, LOOK, BROKEN = "ok", "look", "broken"
STATES = (OK, LOOK, BROKEN)


@dataclass(frozen=True)
class Finding:
    state: str
    found: str  # what is the case
    advice: str = ""  # what to do; empty when all is well
    facts: dict[str, Any] = field(default_factory=dict)  # numbers and names, for --json
    probe: str = ""  # filled in by who called the probe
    where: tuple[str, ...] = ()  # nodes, or ranks


def ok(found: str, **facts: Any) -> Finding:
    return Finding(OK, found, facts=facts)


def look(found: str, advice: str, **facts: Any) -> Finding:
    return Finding(LOOK, found, advice, facts)


def broken(found: str, advice: str, **facts: Any) -> Finding:
    return Finding(BROKEN, found, advice, facts)


def worst(findings: Sequence[Finding]) -> str:
    return max((finding.state for finding in findings), key=STATES.index, default=OK)
