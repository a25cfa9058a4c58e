"""Mistakes of an instructor, reported in a sentence and without a traceback."""

import click

from autograder.safe_text import printable


class SettingsError(click.ClickException):
    """A file or option of the instructor's that cannot be used: exit code 2, nothing was graded.

    Quotes from a file are made printable here, and nowhere earlier.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(printable(line, 1000) for line in message.split("\n")))
