"""Show accounting records in sacct's columns: raw for programs, or as a table for people."""

from collections.abc import Iterable, Sequence

import click

from autograder.slurm_notation import SACCT_COLUMNS

LEFT = ("JobID", "JobName", "Partition", "State")  # the columns that are aligned to the left
COLUMNS = (*LEFT, "ExitCode", "Elapsed", "Timelimit", "NNodes", "NCPUS", "NodeList")


def show(
    rows: Iterable[dict[str, str]], parsable: bool, names: Sequence[str] = (), header: bool = True
) -> None:
    """Print rows as `sacct -X -P` does, or as a table. `names`: as after `--format=`."""
    columns = [column_named(name) for name in names or (SACCT_COLUMNS if parsable else COLUMNS)]
    cells = [[values.get(name, "") for name in columns] for values in map(all_columns, rows)]
    if parsable:
        for row in [columns, *cells] if header else cells:
            click.echo("|".join(row))
        return
    wide = [max(len(row[at]) for row in [columns, *cells]) for at in range(len(columns))]
    heading = [columns, ["-" * width for width in wide]] if header else []
    for row in [*heading, *cells]:
        aligned = (
            value.ljust(width) if name in LEFT else value.rjust(width)
            for value, width, name in zip(row, wide, columns, strict=True)
        )
        click.echo(" ".join(aligned).rstrip())


def column_named(name: str) -> str:
    known = {each.lower(): each for each in (*COLUMNS, *SACCT_COLUMNS, "ConsumedEnergy")}
    if name.lower() in known:
        return known[name.lower()]
    raise click.ClickException(f"sacct: no column {name}; there are {', '.join(known.values())}")


def all_columns(row: dict[str, str]) -> dict[str, str]:
    minutes = row["TimelimitRaw"]
    limit = clock(str(60 * int(minutes))) if minutes.isdigit() else minutes
    return row | {"Elapsed": clock(row["ElapsedRaw"]), "Timelimit": limit}


def clock(seconds: str) -> str:
    if not seconds.isdigit():
        return seconds
    days, rest = divmod(int(seconds), 86400)
    ahead = f"{days}-" if days else ""
    return f"{ahead}{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
