"""Format the doctor's output: a table on a terminal, plain lines in a job's output, or JSON."""

import json
import os
import time
from dataclasses import asdict
from typing import Any

from cluster.doctor import compare
from cluster.doctor.diagnosis import BROKEN, LOOK, OK, STATES, Diagnosis, worst
from cluster.doctor.position import Position

COLOURS = {OK: "green", LOOK: "yellow", BROKEN: "bold red"}
SUMMARY = {OK: "ok", LOOK: "to look at", BROKEN: "broken"}
FORMAT = 1  # version of the JSON; increases when the meaning of a field changes


def title(position: Position) -> str:
    nodes = f"{len(position.nodes)} nodes ({compare.short(position.nodes)})"
    if len(position.nodes) == 1:
        nodes = position.host
    ranks = (
        f"{position.size} ranks, started by {position.launcher}," if position.launcher else "alone"
    )
    return f"doctor: {ranks} on {nodes}"


def summary(diagnoses: list[Diagnosis]) -> str:
    rows = compare.rows(diagnoses)
    counts = {state: sum(row.state == state for row in rows) for state in STATES}
    return ", ".join(f"{counts[state]} {SUMMARY[state]}" for state in STATES)


def where(diagnosis: Diagnosis, position: Position) -> str:
    if len(position.nodes) == 1 and diagnosis.where == (position.host,):
        return ""
    if len(diagnosis.where) == len(position.nodes) > 1 and set(diagnosis.where) == set(
        position.nodes
    ):
        return f"{len(position.nodes)} nodes"
    return compare.short(diagnosis.where)


def lines(diagnoses: list[Diagnosis], position: Position) -> list[str]:
    """Return one line per diagnosis and one line for its advice, without colours or wrapping."""
    several = len(position.nodes) > 1 or position.size > 1
    printed = []
    for row in compare.rows(diagnoses):
        at = f"{where(row, position):<10} " if several else ""
        printed.append(f"{row.state:<6} {row.probe:<14} {at}{row.found}")
        if row.advice:
            printed.append(f"{'':<6} {'':<14} {'':<{len(at)}}→ {row.advice}")
    return printed


def draw(diagnoses: list[Diagnosis], position: Position) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title(position), title_justify="left")
    several = len(position.nodes) > 1 or position.size > 1
    for name in ("", "what", *(["where"] if several else []), "found", "what to do"):
        table.add_column(name)
    for row in compare.rows(diagnoses):
        words = [row.probe, *([where(row, position)] if several else []), row.found, row.advice]
        table.add_row(Text(row.state, COLOURS[row.state]), *map(Text, words))
    Console().print(table)


def as_json(diagnoses: list[Diagnosis], position: Position) -> dict[str, Any]:
    """Return the report for a site's support, as defined in docs/schemas/doctor.schema.json."""
    return {
        "format": FORMAT,
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "job": os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID"),
        "launcher": position.launcher or None,
        "ranks": position.size,
        "nodes": position.nodes,
        "state": worst(diagnoses),
        "findings": [
            {**asdict(diagnosis), "where": list(diagnosis.where)} for diagnosis in diagnoses
        ],
    }


def dumped(diagnoses: list[Diagnosis], position: Position) -> str:
    return json.dumps(as_json(diagnoses, position), indent=1)
