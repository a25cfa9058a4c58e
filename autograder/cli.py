"""The `autograder` command. Each subcommand is a module in commands/, imported when called."""

import importlib
from typing import Any

import click

EXIT_CODES = "Exit code 0: done; 1: it failed; 2: wrong usage, or a mistake in one of your files."


def with_exit_codes(command: click.Command) -> click.Command:
    """Append the exit codes to the help of a command and its subcommands."""
    command.epilog = command.epilog or EXIT_CODES
    for below in getattr(command, "commands", {}).values():
        with_exit_codes(below)
    return command


class LazyGroup(click.Group):
    """A group whose subcommands are data: name -> ("package.module:function", line of help).

    All its commands accept -h as well as --help, and their help ends with the exit codes.
    """

    def __init__(self, *args, lazy: dict[str, tuple[str, str]], **kwargs) -> None:
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)
        with_exit_codes(self)
        self.lazy = lazy
        self.commands.update({name: click.Command(name) for name in lazy})  # to suggest for a slip

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if not error.filename:  # not about one of the user's files, such as a closed pipe
                raise
            raise click.ClickException(f"{error.filename}: {error.strerror}") from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return super().get_command(ctx, name)  # one that a decorator added, if any
        module, function = self.lazy[name][0].split(":")
        return with_exit_codes(getattr(importlib.import_module(module), function))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.lazy.items()])


HELP = {
    "read": "Print what an output file says.",
    "init-class": "Write the settings of a class, with comments.",
    "collect": "Sort a platform's download into a class folder.",
    "grade": "Grade a class of submissions.",
    "check-mine": "Grade your own folder before you submit it.",
    "feedback": "Pack the students' pages for Moodle or Canvas.",
    "rubric": "Check rubrics, or extract a part of one.",
    "calibrate": "Measure reference runs of a site.",
}


COMMANDS = {  # `init-class` is init_class_command in init_class.py
    name: (f"autograder.commands.{module}:{module}_command", line)
    for name, line in HELP.items()
    if (module := name.replace("-", "_"))
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Read what jobs printed and turn it into grades with their reasons."""
