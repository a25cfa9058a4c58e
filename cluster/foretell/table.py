"""A table file → a study: which rows, which column, what work, and what is to be said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.measuring import laws
from autograder.measuring.interval import NotMeasured
from cluster.foretell import columns, numbers, rows
from cluster.foretell.columns import Value
from cluster.foretell.errors import TableError
from cluster.foretell.rows import Row

FALLS = 0.8  # of the first time: no work that grows with the size gets so much faster
GROWS = 1.15  # times the throughput: less, on four times the workers, is that of one of them
LIKE_ALL = 0.6  # of ideal: a throughput that grows like this is not that of one worker


@dataclass(frozen=True, slots=True)
class Table:
    file: Path
    study: laws.Study
    points: tuple[tuple[int, float], ...]  # size and value in the table's unit, every row
    value: Value
    scaling: str  # strong, epoch, weak, or "" of a throughput
    of: str  # what the sizes count: GPUs, nodes
    node: int | None
    batch_changed: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said beside the table."""

    value: str | None = None
    scaling: str | None = None
    node: int | None = None
    each: bool | None = None
    only: tuple[str, ...] = ()


def read(file: Path, asked: Asked) -> Table:
    return understood(file, *rows.read(file), asked)


def of_values(values: Mapping[int, Sequence[float]], what: str, asked: Asked) -> Table:
    """The same of {size: values}; `what` they are, as a column would be called: "images/s"."""
    pairs = [(size, value) for size, some in values.items() for value in some]
    found = [Row(i, {"workers": str(n), what: repr(float(v))}) for i, (n, v) in enumerate(pairs)]
    return understood(Path(what), ["workers", what], found, asked)


def understood(file: Path, names: list[str], found: list[Row], asked: Asked) -> Table:
    found = chosen(names, found, asked.only)
    roles = {name: columns.role(name) for name in names}
    value = value_column(names, roles, asked.value)
    kept = [row for row in found if not numbers.absent(row.cells[value.name])]
    remarks = []
    if len(kept) < len(found):
        lines = ", ".join(str(row.line) for row in found if row not in kept)
        remarks.append(f"No value in line {lines}: left out.")
    if not kept:
        raise TableError(f"{file}: the column {value.name} has no value")
    sizes, of, node = counted(file, names, roles, kept)
    one_thing(names, kept, roles, sizes)
    values = [parsed(file, row, value.name, value) for row in kept]
    value = whose(value, sizes, values, asked.each)
    node = asked.node or node
    batch_changed, growing = batches(file, roles, kept, sizes)
    scaling = kind_of(file, roles, kept, value, asked.scaling, growing, sizes, values)
    try:
        if value.kind == "time":
            study = laws.of_times(sizes, values, scaling)
        else:
            study = laws.of_rates(sizes, values, each=value.kind == "each")
    except NotMeasured as missing:
        raise TableError(f"{file}: {missing.reason}") from None
    points = tuple(sorted(zip(sizes, (v / value.unit for v in values), strict=True)))
    return Table(
        file, study, points, value, scaling, of, node, batch_changed, tuple(remarks)
    )  # fmt: skip


# --- which rows and columns ----------------------------------------------------------------------


def chosen(names: Sequence[str], found: list[Row], only: Sequence[str]) -> list[Row]:
    for condition in only:
        name, sign, wanted = condition.partition("=")
        if not sign or name not in names:
            raise TableError(
                f"--only {condition}: say COLUMN=VALUE, with one of {', '.join(names)}"
            )
        found = [row for row in found if row.cells[name] == wanted]
        if not found:
            raise TableError(f"--only {condition}: no row has that")
    return found


def value_column(names: Sequence[str], roles: Mapping, wanted: str | None) -> Value:
    if wanted is not None:
        if wanted not in names:
            raise TableError(f"--value {wanted}: the columns are {', '.join(names)}")
        value = roles[wanted]
        if not isinstance(value, Value):
            raise TableError(f"--value {wanted}: its name does not say whether time or throughput")
        return value
    values = [role for role in roles.values() if isinstance(role, Value)]
    first_hand = [value for value in values if not value.derived] or values
    if not first_hand:
        raise TableError(
            "no column is a time or a throughput by its name: call it seconds, ms, images/s or "
            f"tokens/s per GPU, for example (there are {', '.join(names)})"
        )
    if len(first_hand) > 1:
        raise TableError(
            f"{' and '.join(value.name for value in first_hand[:3])} may be what was measured: "
            f"choose with --value '{first_hand[0].name}'"
        )
    return first_hand[0]


def one_thing(names: Sequence[str], kept: list[Row], roles: Mapping, sizes: Sequence[int]) -> None:
    """Two models, or two kinds of GPU, in one table are two studies. A word that differs on every
    size, like that of a model which grows with it, is none."""
    for name in names:
        there = list(dict.fromkeys(row.cells[name] for row in kept))
        text = any(not starts_as_number(cell) and not numbers.absent(cell) for cell in there)
        pairs = {(size, row.cells[name]) for size, row in zip(sizes, kept, strict=True)}
        differ = len(pairs) > len(set(sizes)) or len(pairs) > len(there)
        if roles[name] is None and text and differ and len(there) > 1:
            raise TableError(
                f"the column {name} has {len(there)} values, and a study has one: choose with "
                f"--only '{name}={there[0]}'"
            )


def starts_as_number(cell: str) -> bool:
    try:
        return numbers.plain(cell) is not None
    except ValueError:
        return False


def parsed(file: Path, row: Row, name: str, value: Value | None = None) -> float:
    text = row.cells[name]
    try:
        if value and value.kind == "time":
            return numbers.seconds(text, value.unit)
        return numbers.plain(text)
    except ValueError as error:
        where = f"{file}, line {row.line}: {name} is {text[:40]!r}"
        raise TableError(f"{where}; {error}") from None


# --- sizes ---------------------------------------------------------------------------------------


def counted(
    file: Path, names: Sequence[str], roles: Mapping, kept: list[Row]
) -> tuple[list[int], str, int | None]:
    """The size of each row, what it counts, and how many workers a node has."""
    role = {
        what: columns.only([name for name in names if roles[name] == what], f"number of {what}")
        for what in ("workers", "nodes", "per node")
    }
    column = {what: [whole(file, row, name) for row in kept] for what, name in role.items() if name}
    if "nodes" in column and "per node" in column:
        sizes = [n * g for n, g in zip(column["nodes"], column["per node"], strict=True)]
        for row, size, said in zip(kept, sizes, column.get("workers", sizes), strict=True):
            if size != said:
                raise TableError(
                    f"{file}, line {row.line}: {said} is not nodes × workers per node, {size}"
                )
        of = role["workers"] or ("GPUs" if "gpu" in str(role["per node"]).lower() else "workers")
        return sizes, of, max(column["per node"])
    if "workers" in column:
        node = max(column["per node"]) if "per node" in column else None
        if "nodes" in column:
            node = max(-(-w // n) for w, n in zip(column["workers"], column["nodes"], strict=True))
        return column["workers"], role["workers"] or "workers", node
    if "nodes" in column:
        return column["nodes"], "nodes", 1
    raise TableError(
        f"{file}: no column is a size by its name: call it GPUs, ranks or nodes, for example "
        f"(there are {', '.join(names)})"
    )


def whole(file: Path, row: Row, name: str) -> int:
    value = parsed(file, row, name)
    if value != int(value) or not 1 <= value <= 10_000_000:
        raise TableError(
            f"{file}, line {row.line}: {name} is {row.cells[name][:40]!r}, and a size is a whole "
            "number above 0"
        )
    return int(value)


# --- what was measured ---------------------------------------------------------------------------


def whose(value: Value, sizes: list[int], values: list[float], each: bool | None) -> Value:
    """A throughput of all workers or of one: by option, name and what the numbers allow."""
    if value.kind == "time" or value.derived:
        return value
    if each is not None:
        return replace(value, kind="each" if each else "rate")
    few, many = min(sizes), max(sizes)
    grown = max(v for n, v in zip(sizes, values, strict=True) if n == many) / max(
        1e-300, max(v for n, v in zip(sizes, values, strict=True) if n == few)
    )
    if value.kind == "rate" and many >= 4 * few and grown < GROWS:
        raise TableError(
            f"{value.name} hardly grows from {few:,} to {many:,} workers: is it "
            "that of one of them (--per-worker) or of all (--total)?"
        )
    if value.kind == "each" and many >= 4 * few and grown > LIKE_ALL * many / few:
        raise TableError(
            f"{value.name} grows like a throughput of all workers: is it (--total), or that of one "
            "(--per-worker)?"
        )
    return value


def batches(
    file: Path, roles: Mapping, kept: list[Row], sizes: list[int]
) -> tuple[bool, bool | None]:
    """Whether the batch of one worker changes by another rule than one of the two usual ones; and
    whether the global batch grows, None if no column says so."""
    for name, role in roles.items():
        if role not in ("local batch", "global batch"):
            continue
        said = [parsed(file, row, name) for row in kept]
        every = (
            said if role == "global batch" else [b * n for b, n in zip(said, sizes, strict=True)]
        )
        local = [b / n for b, n in zip(every, sizes, strict=True)]
        same_all, same_local = (max(x) <= 1.02 * min(x) for x in (every, local))
        return not (same_all or same_local), None if same_all and same_local else not same_all
    return False, None


def kind_of(
    file: Path,
    roles: Mapping,
    kept: list[Row],
    value: Value,
    asked: str | None,
    growing: bool | None,
    sizes: list[int],
    values: list[float],
) -> str:
    """Strong, epoch or weak; of a throughput it does not matter, so nothing is asked."""
    column = next((name for name, role in roles.items() if role == "scaling"), None)
    said = {row.cells[column].lower().split(" ")[0] for row in kept} if column else set()
    if asked or value.kind != "time":
        return asked or ""
    if len(said) > 1:
        raise TableError(f"{file}: {' and '.join(sorted(said)[:3])} scaling are two studies")
    if said:
        [kind] = said
        if kind not in laws.KINDS:
            raise TableError(f"{file}: {column} is {kind[:20]!r}, not strong, epoch or weak")
        return kind
    if value.to_target or growing is False:
        return "strong"
    if growing and value.a_step:
        return "weak"
    first = max(t for n, t in zip(sizes, values, strict=True) if n == min(sizes))
    last = max(t for n, t in zip(sizes, values, strict=True) if n == max(sizes))
    if last < FALLS * first:
        return "epoch" if growing else "strong"
    raise TableError(
        f"{file}: is {value.name} the time of the same work on each size, or of work that grows "
        "with it? Say --scaling strong, epoch or weak"
    )
