"""The `autograder` command. Each subcommand is a module in commands/, imported when called."""

import click

from autograder.lazy_group import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "read": ("autograder.commands.read:read_command", "Print what an output file says."),
    "init-class": (
        "autograder.commands.init_class:init_class_command",
        "Write the settings of a class, with comments.",
    ),
    "collect": (
        "autograder.commands.collect:collect_command",
        "Sort a platform's download into a class folder.",
    ),
    "grade": ("autograder.commands.grade:grade_command", "Grade a class of submissions."),
    "check-mine": (
        "autograder.commands.check_mine:check_mine_command",
        "Grade your own folder before you submit it.",
    ),
    "merge": ("autograder.commands.merge:merge_command", "Merge the shards of a class."),
    "explain": ("autograder.commands.explain:explain_command", "Show how one grade came about."),
    "feedback": (
        "autograder.commands.feedback:feedback_command",
        "Pack the students' pages for Moodle or Canvas.",
    ),
    "foretell": (
        "autograder.commands.foretell:foretell_command",
        "Predict results for sizes larger than those in a scaling table.",
    ),
    "new-rubric": (
        "autograder.commands.new_rubric:new_rubric_command",
        "Write a rubric for an exercise of your own.",
    ),
    "rubric": (
        "autograder.commands.rubric_check:rubric_command",
        "Check rubrics, or extract a part of one.",
    ),
    "calibrate": (
        "autograder.commands.calibrate:calibrate_command",
        "Measure reference runs of a site.",
    ),
    "gradescope-zip": (
        "autograder.commands.gradescope_zip:gradescope_zip_command",
        "Make an autograder for Gradescope.",
    ),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Read what jobs printed and turn it into grades with their reasons."""
