"""Write a recording as a text, and find the answers to its questions in it."""

from typing import Any

from tests.lessons.incidents.record import Incident, Seen
from tests.lessons.incidents.still import proofs, where_it_left

LAST_CALLS = 8
BAR = "====="


def page(incident: Incident, seen: Seen) -> str:
    """Return the recording: program, output, stacks, collectives, accounting."""
    lines = [f"{BAR} train.py, on {incident.ranks} ranks {BAR}"]
    program = incident.program.text.splitlines()
    lines += [f"{number:>3}  {line}".rstrip() for number, line in enumerate(program, 1)]
    lines += ["", f"{BAR} what all ranks printed {BAR}", *seen.lines]
    for rank, stack in seen.stacks.items():
        lines += ["", f"{BAR} stack of rank {rank}, 8 s after the start {BAR}"]
        lines += stack.rstrip().splitlines()
    for rank, calls in seen.calls.items():
        lines += ["", f"{BAR} last collectives of rank {rank}, from the flight recorder {BAR}"]
        lines += map(row, calls[-LAST_CALLS:])
    lines += ["", f"{BAR} accounting {BAR}", "rank State      ExitCode CPU-seconds MaxRSS-MB"]
    return "\n".join([*lines, *seen.account]) + "\n"


def row(call: dict[str, Any]) -> str:
    name, sizes = call["profiling_name"], call["input_sizes"]
    return f"{call['collective_seq_id']:>5}  {name:<16} {sizes}"


def expected(incident: Incident, text: str) -> dict[str, list[str]]:
    """Return the right answers about a recording. Any of a list counts."""
    return {
        "rank": [str(incident.culprit)],
        "kind": [incident.kind],
        "line": [str(line) for line in where_it_left(incident.kind, incident.program)],
        "proof": [str(line) for line in proofs(text, incident.kind, str(incident.culprit))],
    }
