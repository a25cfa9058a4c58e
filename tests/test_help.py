"""The help of the three commands, and their answers to mistyped words."""

import importlib
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

PROGRAMS = {name: importlib.import_module(f"{name}.cli").main for name in
            ("autograder", "cluster", "lessons")}  # fmt: skip


def commands(name: str, command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every visible command that has its own help (`box` is a program)."""
    if command.add_help_option:
        yield (name, *words)
    if isinstance(command, click.Group):
        for word in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), word)
            if below is not None and not below.hidden:
                yield from commands(name, below, *words, word)


def described(words: str) -> dict[str, str]:
    """Return the options of a command, each with its help."""
    name, *rest = words.split()
    command = PROGRAMS[name]
    for word in rest:
        command = command.get_command(click.Context(command), word)
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    return {option: one.help or "" for one in options for option in one.opts}


EVERY = [words for name, main in PROGRAMS.items() for words in commands(name, main)]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_help_explains_each_option_and_the_exit_codes(words):
    assert [option for option, text in described(" ".join(words)).items() if not text] == []
    done = CliRunner().invoke(PROGRAMS[words[0]], [*words[1:], "--help"])
    assert re.search(r"\n  Exit code 0: .*2:\s", done.output, re.DOTALL)


# One word for one thing. --into is the class that `collect` adds to, not an output.
OTHER_WORDS = {"--output", "--dest", "--to", "--processes", "--lessons"}


def test_the_commands_use_the_same_words():
    used = {option for words in EVERY for option in described(" ".join(words))}
    assert not used & OTHER_WORDS
    assert {"--out", "--jobs", "--profile", "--site", "--json"} < used
