"""`autograder foretell`: predict speed on larger sizes from a scaling table."""

import json
from pathlib import Path

import click

from autograder.foretell import picture, report, table
from autograder.measuring.laws import KINDS


@click.command(
    "foretell", epilog="Exit code 0: answered; 2: mistyped, or the table or a size is refused."
)
@click.argument("file", type=click.Path(path_type=Path), metavar="TABLE.csv")
@click.option(
    "--at",
    multiple=True,
    type=click.IntRange(1),
    help="A size to predict. Default: 2, 4 and 8 times the largest.",
)
@click.option(
    "--scaling",
    type=click.Choice(KINDS),
    default="strong",
    help="What the seconds measure: the same work at each size (strong, epoch) or work that grows "
    "with the workers (weak).",
)
@click.option("--per-node", type=click.IntRange(1), help="Workers in one node.")
@click.option(
    "--picture", "drawing", type=click.Path(path_type=Path), metavar="FILE.png", help="Draw it too."
)
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
def foretell_command(
    file: Path,
    at: tuple[int, ...],
    scaling: str,
    per_node: int | None,
    drawing: Path | None,
    as_json: bool,
) -> None:
    """Print predicted intervals for sizes larger than those in a scaling table.

    The table is a CSV with the columns workers and one of seconds, samples_per_second or speedup. A
    column nodes may be added. Repeated measurements are rows with the same number of workers.
    """
    found = table.read(file, scaling, per_node)
    sizes = sorted(set(at)) or report.usual_sizes(found)
    lines = report.lines(found, sizes)
    if drawing is not None:
        try:
            picture.save(drawing, found, sizes)
        except ImportError:
            raise table.TableError(
                f"the picture {drawing} needs Matplotlib, which the grader alone does not bring: "
                "pip install matplotlib"
            ) from None
        except (OSError, ValueError) as error:
            raise table.TableError(f"the picture {drawing} could not be written: {error}") from None
    if as_json:
        click.echo(json.dumps(report.data(found, lines), ensure_ascii=False, indent=1))
    else:
        click.echo(report.text(found, lines))
        if drawing is not None:
            click.echo(f"\nThe picture: {drawing}")
