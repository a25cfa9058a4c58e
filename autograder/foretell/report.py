"""The answer as text and as data. Every number that is foretold is a pair."""

from collections.abc import Collection, Sequence
from typing import Any

from autograder.foretell.answer import Line, measured_speedups
from autograder.foretell.table import Table
from autograder.measuring import laws
from autograder.measuring.laws import forms

KINDS = {
    "strong": "the same work on each size",
    "epoch": "the same samples on each size, in larger batches",
    "weak": "work that grows with the size",
}
HARDLY = 1.25  # times as fast on the largest size: too little to pass without a remark
WIDE = 4.0  # times: an interval that helps little


def text(table: Table, found: Sequence[Line]) -> str:
    parts = [heading(table), envelope(table, found), laws_on(table, found[-1])]
    parts += ["\n".join(f"- {remark}" for remark in remarks(table, found))]
    return "\n\n".join(part for part in parts if part)


def heading(table: Table) -> str:
    sizes = table.study.sizes
    kind = f"; {KINDS[table.scaling]}" if table.column == "seconds" else ""
    return (
        f"{table.file.name}: {table.column} on {sizes[0]:,} to {sizes[-1]:,} workers, "
        f"{len(sizes)} sizes, {len(table.points)} values{kind}"
    )


def envelope(table: Table, found: Sequence[Line]) -> str:
    first = table.study.sizes[0]
    head = ("workers", table.column, f"speedup over {first:,}", "efficiency")
    rows = [
        (
            f"{line.size:,}",
            span(*line.value),
            span(*line.speedup),
            f"{100 * line.efficiency[0]:.0f} to {100 * line.efficiency[1]:.0f} %",
        )
        for line in found
    ]
    return columns([head, *rows])


def laws_on(table: Table, line: Line) -> str:
    """What each law says of one size by itself, and what speaks against it."""
    objections = laws.objections(table.study.sizes, measured_speedups(table))
    head = ("law", "misses the data by", f"speedup on {line.size:,}", "numbers", "")
    rows = [
        (
            said.fit.form.name,
            f"{100 * said.fit.residual:.1f} %",
            span(said.low, said.high),
            ", ".join(f"{name} = {value:.3g}" for name, value in said.fit.parameters.items()),
            against(said, objections),
        )
        for said in line.foretold.laws
        if not said.fit.form.is_step
    ]
    return columns([head, *rows])


def against(said: laws.Said, objections: Collection[laws.Objection]) -> str:
    if not said.describes:
        return "does not describe these data"
    if said.fit.form is forms.AMDAHL and laws.Objection.FRACTION_FALLS in objections:
        return "hardly describes them: Karp–Flatt falls"
    if said.fit.form is forms.USL and laws.Objection.KAPPA_BELOW_ZERO in objections:
        return "hardly describes them: κ would be below 0"
    return ""


def remarks(table: Table, found: Sequence[Line]) -> list[str]:
    study = table.study
    gains = measured_speedups(table)
    said = list(laws.objections(study.sizes, gains).values())
    if gains[-1] < HARDLY and study.sizes[-1] >= 2 * study.sizes[0]:
        said.append(hardly_faster(table))
    if table.per_node is not None and study.sizes[-1] <= table.per_node < found[-1].size:
        said.append(
            f"All sizes are within one node of {table.per_node}: nothing here says what the "
            "network costs, so the low ends are low."
        )
    elif table.per_node is None and study.sizes[-1] <= 8:
        said.append(
            "All sizes may be within one node, and then nothing here says what the network costs: "
            "say how many a node has with --per-node."
        )
    if max(table.study.repeats) == 1:
        said.append("Each size was run once: how much a run varies is a guess of 2 %.")
    if table.scaling == "epoch":
        said.append("Larger batches make fewer updates: compare the accuracy too.")
    wide = [line for line in found if line.foretold.ratio > WIDE]
    if wide:
        said.append(
            f"Of {wide[0].size:,} workers and more these data leave open more than "
            f"{WIDE:g} times; measure a size between."
        )
    return said


def hardly_faster(table: Table) -> str:
    """Return the remark about a largest size that is hardly faster than the smallest."""
    remark = f"{table.study.sizes[-1]:,} workers are hardly faster than {table.study.sizes[0]:,}. "
    if table.column == "samples_per_second":
        return remark + "Check that samples_per_second is the sum over all workers."
    if table.column == "seconds" and table.scaling != "weak":
        return remark + "If the work grows with the workers, add --scaling weak."
    return remark + "Check the values."


def span(low: float, high: float) -> str:
    return f"{short(low)} to {short(high)}"


def short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if value >= 0.01 else f"{value:.2e}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def data(table: Table, found: Sequence[Line]) -> dict[str, Any]:
    return {
        "table": table.file.name,
        "value": table.column,
        "scaling": table.scaling if table.column == "seconds" else None,
        "per_node": table.per_node,
        "measured": [{"size": size, "value": value} for size, value in table.points],
        "foretold": [
            {
                "size": line.size,
                "value": list(line.value),
                "speedup": list(line.speedup),
                "efficiency": list(line.efficiency),
                "laws": [
                    {
                        "law": said.fit.form.name,
                        "formula": said.fit.form.formula,
                        "assumes": said.fit.form.assumes,
                        "parameters": said.fit.parameters,
                        "residual": said.fit.residual,
                        "describes": said.describes,
                        "speedup": [said.low, said.high],
                    }
                    for said in line.foretold.laws
                ],
            }
            for line in found
        ],
        "remarks": remarks(table, found),
    }
