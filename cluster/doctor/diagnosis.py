"""The result of a probe: a state, a sentence, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

OK, LOOK, BROKEN = "ok", "look", "broken"
STATES = (OK, LOOK, BROKEN)


@dataclass(frozen=True)
class Diagnosis:
    state: str
    found: str  # what was found
    advice: str = ""  # what to do; empty when all is well
    facts: dict[str, Any] = field(default_factory=dict)  # numbers and names, for --json
    probe: str = ""  # filled in by the caller of the probe
    where: tuple[str, ...] = ()  # nodes, or ranks


def ok(found: str, **facts: Any) -> Diagnosis:
    return Diagnosis(OK, found, facts=facts)


def look(found: str, advice: str, **facts: Any) -> Diagnosis:
    return Diagnosis(LOOK, found, advice, facts)


def broken(found: str, advice: str, **facts: Any) -> Diagnosis:
    return Diagnosis(BROKEN, found, advice, facts)


def worst(diagnoses: Sequence[Diagnosis]) -> str:
    return max((diagnosis.state for diagnosis in diagnoses), key=STATES.index, default=OK)
