"""The command `lessons`. Its subcommands are in other modules and are imported when called."""

import sys
from typing import Any

import click

from autograder.cli import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "build": ("lessons.edition.build:build_command", "Make lessons/ from solutions/."),
    "run": ("lessons.execute.run_command:run_command", "Execute lessons headlessly."),
    "start": (
        "lessons.student.start_page:start_command",
        "Write the page that says what to do next.",
    ),
    "check": (
        "lessons.student.check_command:check_command",
        "Run a lesson's public checks on your folder.",
    ),
    "submit": (
        "lessons.student.submit_command:submit_command",
        "Pack a lesson's folder for submission.",
    ),
    "clinic": (
        "lessons.student.clinic_command:clinic_command",
        "Practise naming incidents, for lesson 17.",
    ),
    "release": (
        "lessons.edition.release:release_command",
        "Make the students' edition of the course.",
    ),
    "book": (
        "lessons.book.book_command:book_command",
        "Make a site of the executed lessons and the documentation.",
    ),
    "data": (
        "lessons.toolkit.data.cli:data_group",
        "Fetch the data sets, and show which are here.",
    ),
}


class Commands(LazyGroup):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if str(error.name).split(".")[0] in ("autograder", "cluster", "lessons"):
                raise
            raise click.ClickException(
                f"the Python in {sys.prefix} has no {error.name}: install the course's environment"
                " (make .venv), or its packages beside a site's own (pip install -e '.[site]')"
            ) from None


@click.group(cls=Commands, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Build, run, check and submit the lessons."""
    # nbformat imports jsonschema, which compiles a grammar for a kind of address that no notebook
    # contains. Without this line, that optional import would take most of a second in every
    # command.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
