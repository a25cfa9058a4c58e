"""`cluster doctor`: check everything that a distributed job needs, on this node or on all."""

import sys
from pathlib import Path

import click

from cluster.doctor import all_probes
from cluster.doctor.examine import examine
from cluster.doctor.report import Report
from cluster.launchers import launched

JOB = Path(__file__).with_name("job.sbatch")


@click.command(
    "doctor",
    epilog="Exit code 0: all is well; 1: something is broken or worth a look; 2: mistyped.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all findings as JSON.")
@click.option("--job", is_flag=True, help="Print a job file that runs the doctor on all ranks.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0.1),
    default=600.0,
    help="Maximum seconds per probe; each probe also has its own limit.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([probe.name for probe in all_probes.PROBES]),
    metavar="PROBE",
    help="Run only this probe; repeat the option for more.",
)
def doctor_command(as_json: bool, job: bool, limit: float, only: tuple[str, ...]) -> None:
    """Diagnose this node or, on all ranks of a job, all of its nodes."""
    if job:
        click.echo(JOB.read_text(), nl=False)
        return
    # A table at the end; for ranks, lines at once, because a job may end any time. (mpirun always
    # gives its ranks a terminal.)
    report = Report(as_json, at_the_end=as_json or (sys.stdout.isatty() and not launched()))
    if report.at_the_end and not as_json:
        click.echo("Checking; this takes about half a minute …", err=True)
    try:
        hello = min(all_probes.HELLO, limit)
        reports = examine(all_probes.chosen(limit, only), hello, report)
    except OSError as error:
        raise click.ClickException(
            f"{error.filename or Path.cwd()}: {error.strerror}; start the doctor in a folder that"
            " all nodes share and that you may write to"
        ) from None
    if reports and not report.all_is_well:
        raise SystemExit(1)
