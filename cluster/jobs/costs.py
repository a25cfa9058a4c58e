"""Show in a notebook what jobs cost, in the scheduler's accounting format.

for line in cost_lines(["1885056"]):
    print(line)   # 1885056|00:10:30|billing=80,cpu=80,gres/gpu=8,mem=960G,node=2|5.04M

On every batch system these are four of sacct's columns: job, elapsed time, allocated resources, and
energy in joules. The energy is empty if the site does not record it.
"""

from collections.abc import Iterable, Iterator

import click

from autograder.slurm_notation import SACCT_COLUMNS
from cluster.schedulers import real_command
from cluster.schedulers.accounting_table import clock
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site

COLUMNS = ("JobID", "Elapsed", "AllocTRES", "ConsumedEnergy")
SLURMS_NAMES = {"ncpus": "cpu", "ngpus": "gres/gpu"}  # PBS's names for them


def cost_lines(job_ids: Iterable[str], site_name: str | None = None) -> list[str]:
    """Return one line per job on record. If no job is on record, print a sentence that says so."""
    labels = sorted(set(job_ids))
    try:
        site = site_files.current(site_name)
        said = list((of_slurm if site.scheduler == "slurm" else of_others)(labels, site))
    except (click.ClickException, OSError) as error:
        said = []
        print(error.message if isinstance(error, click.ClickException) else error)
    if labels and not said:
        print(
            "The accounting has no record of these jobs; some sites keep records for only a few "
            "days."
        )
    return said


def of_slurm(labels: list[str], site: Site) -> Iterator[str]:
    words = ["sacct", "-X", "-n", "-P"]
    words += [f"--format={','.join(COLUMNS)}", f"--jobs={','.join(labels)}"]
    print(f"$ {' '.join(words)}")
    done = real_command.run(words, site.exports)
    if done.returncode:
        raise click.ClickException(real_command.complaint(done, "sacct gave no answer"))
    yield from (line for line in done.stdout.splitlines() if line.count("|") == 3)


def of_others(labels: list[str], site: Site) -> Iterator[str]:
    """Return the same four columns from the scheduler's records.

    The jobs are requested one by one, because on some systems a request for several jobs fails if
    one of them is unknown.
    """
    found, unknown = 0, None
    for label in labels:
        try:
            rows = scheduler_of(site).records([label])
        except click.ClickException as error:
            rows, unknown = [], error
        for job in (dict(zip(SACCT_COLUMNS, row, strict=True)) for row in rows):
            found += 1
            parts = [part.partition("=") for part in job["AllocTRES"].split(",") if part]
            used = ",".join(f"{SLURMS_NAMES.get(name, name)}={much}" for name, _, much in parts)
            yield "|".join((job["JobID"], clock(job["ElapsedRaw"]), used, ""))
    if unknown and not found:
        raise unknown
