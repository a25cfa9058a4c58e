"""The option `--json` of commands that list things: a JSON array with one object per thing."""

import json
from collections.abc import Sequence
from typing import Any

import click

with_json = click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON list, one object per row."
)


def print_json(rows: Sequence[dict[str, Any]]) -> None:
    click.echo(json.dumps(rows, indent=1, allow_nan=False, ensure_ascii=False))
