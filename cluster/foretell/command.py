"""`cluster foretell`: what a scaling table says of sizes that nobody has run yet."""

import json
from pathlib import Path

import click

from autograder.measuring.laws import KINDS
from cluster.foretell import answer, picture, report, table
from cluster.foretell.errors import TableError


@click.command("foretell")
@click.argument("file", type=click.Path(path_type=Path), metavar="TABLE.csv")
@click.option(
    "--at", multiple=True, type=click.IntRange(1), help="A size; else 2, 4, 8 × the last."
)
@click.option("--scaling", type=click.Choice(KINDS), help="Strong, epoch or weak, of times.")
@click.option("--value", metavar="COLUMN", help="The column that was measured.")
@click.option("--only", multiple=True, metavar="COLUMN=VALUE", help="The rows to take.")
@click.option("--per-node", type=click.IntRange(1), help="Workers in one node.")
@click.option("--per-worker/--total", "each", default=None, help="Whose throughput it is.")
@click.option("--picture", "drawing", type=click.Path(path_type=Path), metavar="FILE.png")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
def foretell_command(
    file: Path,
    at: tuple[int, ...],
    scaling: str | None,
    value: str | None,
    only: tuple[str, ...],
    per_node: int | None,
    each: bool | None,
    drawing: Path | None,
    as_json: bool,
) -> None:
    """What a table of sizes and times or throughputs says of larger sizes: always an interval.

    Columns are known by their names: GPUs, ranks, nodes and GPUs per node; seconds, ms, min,
    images/s, tokens/s per GPU. A size may have several rows.
    """
    found = table.read(file, table.Asked(value, scaling, per_node, each, only))
    sizes = sorted(set(at)) or answer.usual_sizes(found)
    lines = answer.lines(found, sizes)
    if drawing is not None:
        try:
            picture.save(drawing, found, sizes)
        except (ImportError, OSError, ValueError) as error:
            raise TableError(f"the picture {drawing} could not be written: {error}") from None
    if as_json:
        click.echo(json.dumps(report.data(found, lines), ensure_ascii=False, indent=1))
    else:
        click.echo(report.text(found, lines))
        if drawing is not None:
            click.echo(f"\nThe picture: {drawing}")
