"""The `cluster` command.

Each subcommand is defined in the module that does its work, and imported only when called.
"""

import click

from autograder.cli import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "submit": ("cluster.jobs.submit:submit_command", "Submit a job file (sbatch)."),
    "logs": ("cluster.jobs.logs:logs_command", "Print or follow a job's output (tail -f)."),
    "accounting": (
        "cluster.jobs.accounting:accounting_command",
        "Export the accounting of a class (instructor).",
    ),
    "rerun": ("cluster.rerun.command:rerun_command", "Run submitted programs again (instructor)."),
    "use": ("cluster.sites.use:use_command", "Choose the computer that jobs run on."),
    "sites": ("cluster.sites.use:sites_command", "List the computers."),
    "kernel": (
        "cluster.jupyter.kernel:kernel_group",
        "Install the environment as a Jupyter kernel.",
    ),
    "doctor": ("cluster.doctor.doctor:doctor_command", "Find out what is wrong, and what to do."),
    "first-day": (
        "cluster.first_day.first_day:first_day_command",
        "Test a new centre step by step.",
    ),
    "site": ("cluster.doctor.site_check:site_group", "Check a site file."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(package_name="dl-on-supercomputers")
def main() -> None:
    """Choose a computer, submit jobs to it, and follow them."""
