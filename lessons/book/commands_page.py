"""Update docs/commands.md from the `--help` of the three commands.

python -m lessons.book.commands_page
"""

import importlib
from collections.abc import Iterator
from pathlib import Path

import click

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
PROGRAMS = ("lessons", "cluster", "autograder")
WIDTH = 96  # width of the help texts
FIRST = f"## {PROGRAMS[0]}\n"  # the page above this heading is written by hand


def described(
    name: str, command: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield every visible subcommand with its help text, at all levels."""
    context = command.context_class(
        command,
        parent=parent,
        info_name=name.rpartition(" ")[2],
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )
    yield name, context.get_help()
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None and not below.hidden:
                yield from described(f"{name} {word}", below, context)


def commands_page() -> str:
    """Return the page as Markdown, with its handwritten beginning unchanged."""
    parts = [PAGE.read_text(encoding="utf-8").partition(FIRST)[0].rstrip() + "\n"]
    for program in PROGRAMS:
        main = importlib.import_module(f"{program}.cli").main
        for name, text in described(program, main):
            marks = "##" if name == program else "###"
            parts.append(f"{marks} {name}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
    print(PAGE)
