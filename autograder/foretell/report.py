"""Print the answer as text and as data. Every prediction is a pair of numbers."""

from collections.abc import Collection, Sequence
from typing import Any

from autograder.foretell.answer import Line
from autograder.foretell.table import Table
from autograder.measuring import laws
from autograder.measuring.laws import forms

KINDS = {
    "strong": "the same work on each size",
    "epoch": "the same samples at each size, in larger batches",
    "weak": "work that grows with the size",
}
HARDLY = 1.25  # a smaller speedup on the largest size gets a remark
WIDE = 4.0  # upper end divided by lower end; a wider interval helps little


def text(table: Table, lines: Sequence[Line]) -> str:
    parts = [heading(table), envelope(table, lines), laws_on(table, lines[-1])]
    parts += ["\n".join(f"- {remark}" for remark in remarks(table, lines))]
    return "\n\n".join(part for part in parts if part)


def heading(table: Table) -> str:
    sizes = table.study.sizes
    kind = f"; {KINDS[table.scaling]}" if table.column == "seconds" else ""
    return (
        f"{table.file.name}: {table.column} on {sizes[0]:,} to {sizes[-1]:,} workers, "
        f"{len(sizes)} sizes, {len(table.points)} values{kind}"
    )


def envelope(table: Table, lines: Sequence[Line]) -> str:
    first = table.study.sizes[0]
    head = ("workers", table.column, f"speedup over {first:,}", "efficiency")
    rows = [
        (
            f"{line.size:,}",
            span(*line.value),
            span(*line.speedup),
            f"{100 * line.efficiency[0]:.0f} to {100 * line.efficiency[1]:.0f} %",
        )
        for line in lines
    ]
    return columns([head, *rows])


def laws_on(table: Table, line: Line) -> str:
    """Return each law's own prediction for one size, and the objections to it."""
    objections = laws.objections(table.study.sizes, table.study.speedups)
    head = ("law", "misses the data by", f"speedup on {line.size:,}", "numbers", "")
    rows = [
        (
            law.fit.form.name,
            f"{100 * law.fit.residual:.1f} %",
            span(law.low, law.high),
            ", ".join(f"{name} = {value:.3g}" for name, value in law.fit.parameters.items()),
            against(law, objections),
        )
        for law in line.foretold.laws
        if not law.fit.form.is_step
    ]
    return columns([head, *rows])


def against(law: laws.Said, objections: Collection[laws.Objection]) -> str:
    if not law.describes:
        return "does not describe these data"
    if law.fit.form is forms.AMDAHL and laws.Objection.FRACTION_FALLS in objections:
        return "hardly describes these data: Karp–Flatt falls"
    if law.fit.form is forms.USL and laws.Objection.KAPPA_BELOW_ZERO in objections:
        return "hardly describes these data: κ would be below 0"
    return ""


def remarks(table: Table, lines: Sequence[Line]) -> list[str]:
    study = table.study
    gains = table.study.speedups
    sentences = list(laws.objections(study.sizes, gains).values())
    if gains[-1] < HARDLY and study.sizes[-1] >= 2 * study.sizes[0]:
        sentences.append(hardly_faster(table))
    if table.per_node is not None and study.sizes[-1] <= table.per_node < lines[-1].size:
        sentences.append(
            f"All sizes are within one node of {table.per_node}: nothing here says what the "
            "network costs, so the low ends are low."
        )
    elif table.per_node is None and study.sizes[-1] <= 8:
        sentences.append(
            "All sizes may be within one node. The table then does not show what the network "
            "costs: give the workers per node with --per-node."
        )
    if max(table.study.repeats) == 1:
        sentences.append(
            "Each size was run once, so the variation between runs is assumed to be 2 %."
        )
    if table.scaling == "epoch":
        sentences.append("Larger batches make fewer updates: compare the accuracy too.")
    wide = [line for line in lines if line.foretold.ratio > WIDE]
    if wide:
        sentences.append(
            f"From {wide[0].size:,} workers on, intervals span more than {WIDE:g} times; measure a "
            "size in between."
        )
    return sentences


def hardly_faster(table: Table) -> str:
    """Return a remark if the largest size is hardly faster than the smallest one."""
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


def data(table: Table, lines: Sequence[Line]) -> dict[str, Any]:
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
                        "law": law.fit.form.name,
                        "formula": law.fit.form.formula,
                        "assumes": law.fit.form.assumes,
                        "parameters": law.fit.parameters,
                        "residual": law.fit.residual,
                        "describes": law.describes,
                        "speedup": [law.low, law.high],
                    }
                    for law in line.foretold.laws
                ],
            }
            for line in lines
        ],
        "remarks": remarks(table, lines),
    }
