"""The behaviour that all schedulers share; mypy checks that each has all names of the contract."""

import json
import os
import time
from pathlib import Path

import click
import pytest

from autograder.slurm_notation import SACCT_COLUMNS
from cluster.job_file import jobfile
from cluster.schedulers import history
from cluster.schedulers.contract import JobStatus, Scheduler
from cluster.schedulers.history import Submission
from cluster.schedulers.known import SCHEDULERS, WITHOUT_SLURM, scheduler_of
from cluster.sites.site_files import Site

PBS_JOB = {"job_state": "F", "Exit_status": 0, "Job_Name": "job.sbatch", "Job_Owner": "ada@login"}
# Stand-ins that know one job, 77, which ended successfully, and what each prints about it.
PRETENDED = {
    "sbatch": "echo Submitted batch job 77",
    "squeue": "[[ $* != *77* ]] || echo '77|COMPLETED|None|N/A'",
    "scancel": "true",
    "qsub": "echo 77.server",
    "qstat": f"[[ $* != *77* ]] || echo '{json.dumps({'Jobs': {'77.server': PBS_JOB}})}'",
    "qdel": "true",
}


@pytest.fixture(params=SCHEDULERS)
def site(request, shell, monkeypatch) -> Site:
    """Return a site with this scheduler, for a user in a folder with a job file."""
    for name, script in PRETENDED.items():
        program = shell.home / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)
    monkeypatch.chdir(shell.folder)
    for name in [*os.environ, *shell.environment]:
        if shell.environment.get(name) is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, shell.environment[name])
    monkeypatch.setenv("PATH", f"{shell.home / 'bin'}:{os.environ['PATH']}")
    shell.write("job.sbatch", "true", "--output=%x_%j.out", "--time=5")
    return Site("here", Path("here.sh"), {"SITE_SCHEDULER": request.param}, {"COURSE_SITE": "x"})


def submitted(site: Site) -> tuple[Scheduler, str, list[str]]:
    """Submit a job; return the site's scheduler, the job's id, and the lines shown."""
    scheduler, lines = scheduler_of(site), []
    job = jobfile.read(Path("job.sbatch"))
    number = scheduler.submit(job, {"job-name": "mine"}, ["--epochs", "2"], site, lines.append)
    output = str(Path.cwd() / "mine_%j.out")
    file = str(job.path.resolve())
    history.remember(Submission(number, site.name, file, {}, [], output, None, time.time()))
    return scheduler, number, lines


def at_the_end(scheduler: Scheduler, number: str) -> JobStatus:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        (status,) = scheduler.statuses(number)
        if status.over:
            return status
        time.sleep(0.05)
    raise AssertionError("the job does not end")


def test_a_job_that_ended_well_says_so_and_where_its_output_is(site):
    scheduler, number, _ = submitted(site)
    status = at_the_end(scheduler, number)
    assert (status.label, status.state, status.succeeded) == (number, "COMPLETED", True)
    assert status.output == Path.cwd() / f"mine_{number}.out"


def test_a_job_that_is_not_known_is_one_sentence(site):
    with pytest.raises(click.ClickException, match="4711"):
        scheduler_of(site).statuses("4711")


def test_records_have_sacct_s_columns(site, capsys):
    scheduler, number, _ = submitted(site)
    if site.scheduler in WITHOUT_SLURM:
        at_the_end(scheduler, number)
        (record,) = WITHOUT_SLURM[site.scheduler].records([number])
        assert (record["JobID"], record["State"]) == (number, "COMPLETED")
        assert record.keys() <= {*SACCT_COLUMNS}
        WITHOUT_SLURM[site.scheduler].show_queue([])
    scheduler.cancel(number)
    assert number in capsys.readouterr().err
