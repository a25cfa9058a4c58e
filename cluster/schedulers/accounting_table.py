"""Show accounting records in sacct's columns: raw for programs, or as a table for people."""

from collections.abc import Iterable, Sequence

import click

from cluster.job_file.jobfile import clock

# JobIDRaw is the number that an array task itself sees. MaxRSS stays empty: lesson 00 asks for it.
PARSABLE = (
    *("JobID", "User", "Account", "JobName", "Partition", "State", "ExitCode", "DerivedExitCode"),
    *("Submit", "Start", "End", "ElapsedRaw", "TimelimitRaw", "NNodes", "NCPUS", "AllocTRES"),
    *("NodeList", "SubmitLine", "JobIDRaw", "TotalCPU", "MaxRSS"),
)
COLUMNS = (
    *("JobID", "JobName", "Partition", "State", "ExitCode", "Elapsed", "Timelimit"),
    *("NNodes", "NCPUS", "NodeList"),
)


def show(
    rows: Iterable[dict[str, str]], parsable: bool, names: Sequence[str] = (), header: bool = True
) -> None:
    """Print rows as `sacct -X -P` does, or as a table. `names`: as after `--format=`."""
    columns = [column_named(name) for name in names or (PARSABLE if parsable else COLUMNS)]
    cells = [[values.get(name, "") for name in columns] for values in map(all_columns, rows)]
    if parsable:
        for row in [columns, *cells] if header else cells:
            click.echo("|".join(row))
        return
    wide = [max(len(row[at]) for row in [columns, *cells]) for at in range(len(columns))]
    heading = [columns, ["-" * width for width in wide]] if header else []
    for row in [*heading, *cells]:
        aligned = (value.ljust(width) for value, width in zip(row, wide, strict=True))
        click.echo(" ".join(aligned).rstrip())


def column_named(name: str) -> str:
    known = {each.lower(): each for each in (*COLUMNS, *PARSABLE, "ConsumedEnergy")}
    if name.lower() in known:
        return known[name.lower()]
    raise click.ClickException(f"sacct: no column {name}; there are {', '.join(known.values())}")


def all_columns(row: dict[str, str]) -> dict[str, str]:
    minutes = row["TimelimitRaw"]
    limit = clock(60 * int(minutes)) if minutes.isdigit() else minutes
    return row | {"Elapsed": clock(int(row["ElapsedRaw"])), "Timelimit": limit}
