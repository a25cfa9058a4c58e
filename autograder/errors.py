"""Errors that an instructor can cause, reported in one sentence without a traceback."""

import click

from autograder.safe_text import printable


class SettingsError(click.ClickException):
    """An error in an instructor's file or option. The exit code is 2, and nothing is graded.

    Text quoted from a file is made printable here, so callers pass it unchanged.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(printable(line, 1000) for line in message.split("\n")))
