"""The `autograder` command. Each subcommand is a module in commands/, imported when called."""

import click

from autograder.lazy_group import LazyGroup

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


def place(name: str) -> str:
    """Return the function of a subcommand: `init-class` is init_class_command in init_class.py."""
    module = name.replace("-", "_")
    return f"autograder.commands.{module}:{module}_command"


COMMANDS = {name: (place(name), line) for name, line in HELP.items()}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Read what jobs printed and turn it into grades with their reasons."""
