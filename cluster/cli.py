"""The `cluster` command. Subcommands live beside what they do, imported when called."""

import click

from autograder.lazy_group import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "submit": ("cluster.submit:submit_command", "Submit a job file."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Choose a computer, submit jobs to it and look after them."""
