"""`cluster box …`: control a real Slurm on this machine.

The shell program beside this file does the work, and it needs no Python environment.
"""

import os
from pathlib import Path

import click

BOX = Path(__file__).with_name("box")


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND …")
def box_command(words: tuple[str, ...]) -> None:
    """up, down, status, user add NAME, accounting, install, wipe."""
    os.execv("/bin/bash", ["bash", str(BOX), *words])
