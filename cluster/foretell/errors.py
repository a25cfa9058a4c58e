"""A table that cannot be used, said in one sentence: exit code 2."""

from autograder.errors import SettingsError


class TableError(SettingsError):
    """What is wrong with a table, where, and what to do."""
