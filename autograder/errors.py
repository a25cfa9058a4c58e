"""What an instructor can do wrong, said in a sentence and without a traceback."""

import click


class SettingsError(click.ClickException):
    """Something of the instructor's that cannot be used: exit code 2, for nothing was graded."""

    exit_code = 2
