"""What the doctor prints: a table on a terminal, plain lines in a job's output, or JSON."""

import json
import os
import time
from dataclasses import asdict
from typing import Any

from cluster.doctor import merge
from cluster.doctor.findings import BROKEN, LOOK, OK, STATES, Finding, worst
from cluster.doctor.place import Place

COLOURS = {OK: "green", LOOK: "yellow", BROKEN: "bold red"}
SUMMARY = {OK: "ok", LOOK: "to look at", BROKEN: "broken"}
FORMAT = 1  # of the JSON; grows when a field changes its meaning


def title(place: Place) -> str:
    nodes = f"{len(place.nodes)} nodes ({merge.short(place.nodes)})"
    if len(place.nodes) == 1:
        nodes = place.host
    ranks = f"{place.size} ranks, started by {place.launcher}," if place.launcher else "alone"
    return f"doctor: {ranks} on {nodes}"


def summary(findings: list[Finding]) -> str:
    found = merge.rows(findings)
    counts = {state: sum(row.state == state for row in found) for state in STATES}
    return ", ".join(f"{counts[state]} {SUMMARY[state]}" for state in STATES)


def where(finding: Finding, place: Place) -> str:
    if len(place.nodes) == 1 and finding.where == (place.host,):
        return ""
    if len(finding.where) == len(place.nodes) > 1 and set(finding.where) == set(place.nodes):
        return f"{len(place.nodes)} nodes"
    return merge.short(finding.where)


def lines(findings: list[Finding], place: Place) -> list[str]:
    """One line a finding, and one more for what to do: no colours, nothing wrapped."""
    several = len(place.nodes) > 1 or place.size > 1
    found = []
    for row in merge.rows(findings):
        at = f"{where(row, place):<10} " if several else ""
        found.append(f"{row.state:<6} {row.probe:<14} {at}{row.found}")
        if row.advice:
            found.append(f"{'':<6} {'':<14} {'':<{len(at)}}→ {row.advice}")
    return found


def draw(findings: list[Finding], place: Place) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title(place), title_justify="left")
    several = len(place.nodes) > 1 or place.size > 1
    for name in ("", "what", *(["where"] if several else []), "found", "what to do"):
        table.add_column(name)
    for row in merge.rows(findings):
        words = [row.probe, *([where(row, place)] if several else []), row.found, row.advice]
        table.add_row(Text(row.state, COLOURS[row.state]), *map(Text, words))
    Console().print(table)


def as_json(findings: list[Finding], place: Place) -> dict[str, Any]:
    """For support; docs/doctor.schema.json describes it."""
    return {
        "format": FORMAT,
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "job": os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID"),
        "launcher": place.launcher or None,
        "ranks": place.size,
        "nodes": place.nodes,
        "state": worst(findings),
        "findings": [{**asdict(finding), "where": list(finding.where)} for finding in findings],
    }


def dumped(findings: list[Finding], place: Place) -> str:
    return json.dumps(as_json(findings, place), indent=1)
