"""`cluster doctor`: check what a distributed job needs, on this node or on all ranks of a job.

Every rank prints its own lines: the first rank of a node all of them, the others only problems.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from cluster.doctor import run_probes
from cluster.doctor.all_probes import PROBES, Probe
from cluster.doctor.diagnosis import BROKEN, LOOK, OK, STATES, Diagnosis, node_name
from cluster.doctor.probes import gpus
from cluster.launchers import LaunchedAs, launched

JOB = Path(__file__).with_name("job.sbatch")
LAST_LINES = 15  # seconds for the other ranks' last lines; a launcher ends them when one fails
SUMMARY = {OK: "ok", LOOK: "to look at", BROKEN: "broken"}


@click.command(
    "doctor",
    epilog="Exit code 0: nothing is broken, but read the lines that say `look`; 1: something is"
    " broken; 2: wrong usage.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each finding as a line of JSON.")
@click.option("--job", is_flag=True, help="Print a job file that runs the doctor on all ranks.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([probe.name for probe in PROBES]),
    metavar="PROBE",
    help="Run only this probe; repeat the option for more.",
)
def doctor_command(as_json: bool, job: bool, only: tuple[str, ...]) -> None:
    """Diagnose this node or, on all ranks of a job, all of its nodes."""
    if job:
        click.echo(JOB.read_text(), nl=False)
        return
    probes = [probe for probe in PROBES if not only or probe.name in only]
    if BROKEN in examine(probes, as_json):
        raise SystemExit(1)


def examine(probes: list[Probe], as_json: bool = False) -> list[str]:
    """Run the probes, print each diagnosis, and return the states."""
    launch = launched() or LaunchedAs("", 0, 0, 1)
    diagnoses: list[Diagnosis] = []

    def tell(several: list[Diagnosis]) -> None:
        for diagnosis in several:
            diagnoses.append(diagnosis)
            if as_json or launch.local_rank == 0 or diagnosis.state != OK:
                click.echo(as_line(diagnosis, launch) if as_json else as_text(diagnosis, launch))
        sys.stdout.flush()

    if launch.rank == 0 and not as_json:
        how = f"{launch.size} ranks, started by {launch.launcher}" if launch.launcher else "alone"
        click.echo(f"doctor: {how}, on {node_name()}")
    if launch.local_rank == 0:
        for several in run_probes.run_all([probe for probe in probes if not probe.all_ranks]):
            tell(several)
        tell(gpus.agree({each.probe: each for each in diagnoses}))
    hanging: list[subprocess.Popen] = []
    for probe in probes:
        if probe.all_ranks:
            tell(run_probes.run(probe, hanging))
    states = [each.state for each in diagnoses]
    if launch.local_rank == 0 and not as_json:
        counts = ", ".join(f"{states.count(state)} {SUMMARY[state]}" for state in STATES)
        click.echo(f"doctor: {node_name()}: {counts}")
        sys.stdout.flush()
    if launch.size > 1 and BROKEN in states:
        time.sleep(LAST_LINES)
    for process in hanging:  # only now, because a launcher may end all ranks with it
        run_probes.end(process)
    return states


def as_text(diagnosis: Diagnosis, launch: LaunchedAs) -> str:
    where = f"{node_name()} rank {launch.rank}: " if launch.size > 1 else ""
    line = f"{diagnosis.state:<6} {diagnosis.probe:<10} {where}{diagnosis.found}"
    return f"{line}\n{'':<18}→ {diagnosis.advice}" if diagnosis.advice else line


def as_line(diagnosis: Diagnosis, launch: LaunchedAs) -> str:
    where = {"node": node_name(), "rank": launch.rank, "ranks": launch.size}
    return json.dumps({"probe": diagnosis.probe, **where, **asdict(diagnosis)})
