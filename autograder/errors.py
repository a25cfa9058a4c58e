"""What an instructor can do wrong, said in a sentence and without a traceback."""

import click

from autograder.safe_text import printable


class SettingsError(click.ClickException):
    """Something of the instructor's that cannot be used: exit code 2, for nothing was graded.

    What it quotes from a file is made printable here, and nowhere before.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(printable(line, 1000) for line in message.split("\n")))
