"""Show accounting records in sacct's columns: raw for programs, or as a table for people."""

from collections.abc import Iterable

import click

from autograder.slurm_notation import SACCT_COLUMNS, SACCT_HEADER

# sacct's columns and their widths; a minus aligns to the left.
COLUMNS = {
    "JobID": -10,
    "JobName": -20,
    "Partition": -10,
    "State": -20,
    "ExitCode": 8,
    "Elapsed": 11,
    "Timelimit": 11,
    "NNodes": 6,
    "NCPUS": 6,
    "NodeList": -20,
}
# What `cluster queue --json` says of a job, under sacct's names where sacct has one.
QUEUE_COLUMNS = ("JobID", "Partition", "JobName", "State", "Elapsed", "NNodes", "Start", "NodeList")
FOR_SACCT = ",".join(f"{name.lower()}%{width}" for name, width in COLUMNS.items())


def show(rows: Iterable[list[str]], parsable: bool) -> None:
    """Print rows with all columns, as `sacct -X -P` does, or the main columns as a table."""
    if parsable:
        for line in (SACCT_HEADER, *("|".join(row) for row in rows)):
            click.echo(line)
        return
    table = [list(COLUMNS), *map(main_columns, rows)]
    wide = [max(len(row[at]) for row in table) for at in range(len(COLUMNS))]
    table.insert(1, ["-" * width for width in wide])
    for row in table:
        cells = (
            value.ljust(width) if aligned < 0 else value.rjust(width)
            for value, width, aligned in zip(row, wide, COLUMNS.values(), strict=True)
        )
        click.echo(" ".join(cells).rstrip())


def main_columns(row: list[str]) -> list[str]:
    told = dict(zip(SACCT_COLUMNS, row, strict=True))
    told["Elapsed"] = clock(told["ElapsedRaw"])
    minutes = told["TimelimitRaw"]
    told["Timelimit"] = clock(str(60 * int(minutes))) if minutes.isdigit() else minutes
    return [told[name] for name in COLUMNS]


def clock(seconds: str) -> str:
    if not seconds.isdigit():
        return seconds
    days, rest = divmod(int(seconds), 86400)
    ahead = f"{days}-" if days else ""
    return f"{ahead}{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
