"""`cluster submit`: hand a job file to the site's batch system. Notebooks use the same function."""

import shlex
import time
from pathlib import Path

import click

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile
from cluster.job_file.programs import hashes_of, programs_of
from cluster.job_file.sbatch_options import take_options
from cluster.jobs import gpu_share, site_limits
from cluster.jobs.horovod import provide_horovod_for
from cluster.jobs.wait import exit_if_failed, wait_for
from cluster.schedulers import history, real_command
from cluster.schedulers.contract import Show
from cluster.schedulers.history import Submission
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site


@click.command(
    "submit",
    epilog="Exit code 0: submitted, and with --wait the job succeeded; 1: refused, or the job "
    "failed; 2: wrong usage; 130: interrupted.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="JOB.SBATCH [ARGUMENTS]")
def submit_command(words: tuple[str, ...]) -> None:
    """Submit a job file. Put sbatch's options before it and the program's arguments after it.

        cluster submit job.sbatch --epochs 4

        cluster submit --wait --ntasks=2 --time=00:05:00 job.sbatch --epochs 4

    Requests are fitted to the site, and what it would refuse is refused here. With PBS, the job
    file's lines become options of qsub.
    """
    submit_words(list(words), site_files.current())


def on_error_stream(line: str) -> None:
    click.echo(line, err=True)


def submit_words(words: list[str], site: Site, show: Show = on_error_stream) -> None:
    """Submit a job as `sbatch WORDS` does. With `--wait`, also wait until it has ended."""
    options, rest = take_options(words)
    if not rest:
        raise click.UsageError("no job file is named; for example: job.sbatch --epochs 4")
    is_waiting = options.pop("wait", None) is not None
    job_id = submit(Path(rest[0]), rest[1:], options, site, show)
    if is_waiting:
        try:
            exit_if_failed(wait_for(job_id, site, on_error_stream))
        except KeyboardInterrupt:
            text = f"You stopped waiting, but job {job_id} continues. To end it: scancel {job_id}"
            on_error_stream(f"\n{text}")
            raise SystemExit(130) from None


def submit(
    path: Path,
    arguments: list[str],
    options: dict[str, str],
    site: Site,
    show: Show = on_error_stream,
) -> str:
    """Show the real command, submit, print the job's id as sbatch does, and return it."""
    job = jobfile.read(path)
    for note in job.notes:
        show(note)
    check_output_folder(job, options)
    scheduler = scheduler_of(site)
    if scheduler.RUNS_HERE:
        provide_horovod_for(programs_of(job.path))
    if scheduler.SUBMIT_PROGRAM:
        real_command.need(scheduler.SUBMIT_PROGRAM, site)
    here, more, remarks = gpu_share.fitted(job, jobfile.request(job, options), options, site)
    for remark in [*site_limits.remarks(job, options, here), *remarks]:
        show(remark)
    job_id = scheduler.submit(job, options | more, arguments, here, show)
    history.remember(submission_of(job, job_id, options, arguments, site))
    click.echo(job_id if "parsable" in options else f"Submitted batch job {job_id}")
    return job_id


def submission_of(
    job: JobFile, job_id: str, options: dict[str, str], arguments: list[str], site: Site
) -> Submission:
    asked = jobfile.request(job, options)
    folder = Path.cwd() / (asked.folder or "")
    known = {"x": asked.name, "u": jobfile.values_of(0, "", "", None)["u"]}
    return Submission(
        job_id=job_id,
        site=site.name,
        job_file=str(job.path.resolve()),
        options=options,
        arguments=arguments,
        output=str(folder / jobfile.fill(asked.output, known)),
        error=asked.error and str(folder / jobfile.fill(asked.error, known)),
        submitted=time.time(),
        files=hashes_of(job.path),
    )


def check_output_folder(job: JobFile, options: dict[str, str]) -> None:
    """Refuse an output folder that does not exist, where Slurm would fail without a message."""
    asked = jobfile.request(job, options)
    for name, pattern in (("output", asked.output), ("error", asked.error)):
        folder = (Path.cwd() / (asked.folder or "") / (pattern or "")).parent
        if "%" not in str(folder) and not folder.is_dir():
            raise jobfile.JobFileError(
                f"--{name}={pattern}: there is no folder {folder}; sbatch would start the job"
                f" and lose its output: mkdir -p {shlex.quote(str(folder))}"
            )
