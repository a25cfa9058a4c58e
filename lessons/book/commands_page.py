"""Update docs/commands.md from the `--help` of the three commands.

python -m lessons.book.commands_page
"""

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from autograder.lazy_group import EXIT_CODES

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
PROGRAMS = ("lessons", "cluster", "autograder")
WIDTH = 96  # width of the help texts
FIRST = "| command | 0 | 1 | 2 | others |\n"  # the page above this line is written by hand


def described(
    name: str, command: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield every visible subcommand with its help text and its exit codes, at all levels."""
    context = command.context_class(
        command,
        parent=parent,
        info_name=name.rpartition(" ")[2],
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )
    yield name, context.get_help(), command.epilog or EXIT_CODES
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None and not below.hidden:
                yield from described(f"{name} {word}", below, context)


def exit_codes(sentences: Mapping[str, str]) -> str:
    """Return a table of the commands whose exit codes have special meanings."""
    rows: dict[str, list[str]] = {}
    for name, sentence in sentences.items():
        if sentence != EXIT_CODES:
            rows.setdefault(sentence, []).append(f"`{name}`")
    lines = [FIRST + "|---|---|---|---|---|"]
    for sentence, names in rows.items():
        codes = sentence.removeprefix("Exit code ").rstrip(".")
        meanings = dict(one.split(": ", 1) for one in re.split(r"; (?=\d)", codes))
        usual = [meanings.pop(code, "") for code in "012"]
        others = "; ".join(f"{code}: {meaning}" for code, meaning in meanings.items())
        lines.append(f"| {' | '.join([', '.join(names), *usual, others])} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Return the page as Markdown, with its handwritten beginning unchanged."""
    parts = [PAGE.read_text(encoding="utf-8").partition(FIRST)[0].rstrip() + "\n"]
    mains = {name: importlib.import_module(f"{name}.cli").main for name in PROGRAMS}
    found = {name: [*described(name, main)] for name, main in mains.items()}
    parts.append(exit_codes({name: codes for every in found.values() for name, _, codes in every}))
    for program, commands in found.items():
        for name, text, _ in commands:
            marks = "##" if name == program else "###"
            parts.append(f"{marks} {name}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
    print(PAGE)
