"""Predict larger sizes as intervals, and print them as text and as data."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.foretell.table import Table, TableError
from autograder.measuring import laws
from autograder.measuring.interval import NotMeasured
from autograder.measuring.laws import forms

KINDS = {
    "strong": "the same work on each size",
    "epoch": "the same samples at each size, in larger batches",
    "weak": "work that grows with the size",
}
HARDLY = 1.25  # a smaller speedup on the largest size gets a remark
WIDE = 4.0  # upper end divided by lower end; a wider interval helps little


@dataclass(frozen=True, slots=True)
class Line:
    """The predicted interval for one size: in the table's unit, as speedup and as efficiency."""

    size: int
    value: tuple[float, float]
    speedup: tuple[float, float]
    efficiency: tuple[float, float]
    foretold: laws.Foretold


def lines(table: Table, sizes: Sequence[int]) -> list[Line]:
    try:
        found = laws.foretell(table.study, sizes, table.per_node)
    except NotMeasured as missing:
        raise TableError(f"{table.file}: {missing.reason}") from None
    result = []
    for one in found:
        ideal = one.size / table.study.sizes[0]
        low, high = sorted(table.value_at(one.size, speedup) for speedup in (one.low, one.high))
        efficiency = (one.low / ideal, one.high / ideal)
        result.append(Line(one.size, (low, high), (one.low, one.high), efficiency, one))
    return result


def usual_sizes(table: Table) -> list[int]:
    return [table.study.sizes[-1] * times for times in (2, 4, 8)]


def text(table: Table, lines: Sequence[Line]) -> str:
    sizes = table.study.sizes
    kind = f"; {KINDS[table.scaling]}" if table.column == "seconds" else ""
    heading = (
        f"{table.file.name}: {table.column} on {sizes[0]:,} to {sizes[-1]:,} workers, "
        f"{len(sizes)} sizes, {len(table.points)} values{kind}"
    )
    parts = [heading, envelope(table, lines), laws_on(table, lines[-1])]
    parts += ["\n".join(f"- {remark}" for remark in remarks(table, lines))]
    return "\n\n".join(part for part in parts if part)


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
    gain, first, last = study.speedups[-1], study.sizes[0], study.sizes[-1]
    sentences = list(laws.objections(study.sizes, study.speedups).values())
    if gain < HARDLY and last >= 2 * first:
        advice = "Check the values."
        if table.column == "samples_per_second":
            advice = "Check that samples_per_second is the sum over all workers."
        elif table.column == "seconds" and table.scaling != "weak":
            advice = "If the work grows with the workers, add --scaling weak."
        sentences.append(f"{last:,} workers are hardly faster than {first:,}. {advice}")
    if table.per_node is not None and last <= table.per_node < lines[-1].size:
        sentences.append(
            f"All sizes are within one node of {table.per_node}: nothing here says what the "
            "network costs, so the low ends are low."
        )
    elif table.per_node is None and last <= 8:
        sentences.append(
            "All sizes may be within one node. The table then does not show what the network "
            "costs: give the workers per node with --per-node."
        )
    if max(study.repeats) == 1:
        sentences.append(
            "Each size was run once, so the variation between runs is assumed to be 2 %."
        )
    if table.scaling == "epoch":
        sentences.append("Larger batches make fewer updates: compare the accuracy too.")
    wide = [line.size for line in lines if line.foretold.ratio > WIDE]
    if wide:
        sentences.append(
            f"From {wide[0]:,} workers on, intervals span more than {WIDE:g} times; measure a "
            "size in between."
        )
    return sentences


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
