"""`cluster scale`: run one job file on several numbers of ranks, and tabulate the speedup."""

import shlex
from dataclasses import replace
from pathlib import Path

import click

from autograder.measuring import size_table
from autograder.measuring.measure import workers
from autograder.reading.files import read_files
from autograder.records import Run
from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFileError
from cluster.job_file.sbatch_options import OptionError
from cluster.jobs import placing, scale_picture, scale_rounds, scale_study
from cluster.jobs.submit import sort_words, submit
from cluster.jobs.wait import wait_for
from cluster.schedulers.contract import JobStatus
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site


@click.command(
    "scale", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option("--ranks", help="Numbers of ranks, such as 1,2,4,8. Without this option, read FILES.")
@click.option("--repeat", default=1, show_default=True, help="Jobs for each number of ranks.")
@click.option("--chain/--at-once", default=None, help="Run the jobs one by one, or all at once.")
@click.option(
    "--site", "site_name", metavar="SITE", help="Submit to this site, not the one in use."
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="JOB.SBATCH [ARGUMENTS] | FILES")
def scale_command(
    ranks: str | None,
    repeat: int,
    chain: bool | None,
    site_name: str | None,
    words: tuple[str, ...],
) -> None:
    """Submit a job once for each number of ranks, wait, and print times, speedup and efficiency.

    On the laptop the jobs run one after the other, so that they do not slow each other down. For
    speed jobs, which include their own one-rank baseline, it prints speedup, ceiling and share. For
    a study in one launch it prints a table for each kind of scaling. Without --ranks, it reads
    existing output files: cluster scale 12_study_8.out
    """
    if ranks is None:
        click.echo(report(read_files(outputs_named(words))))
        return
    try:
        other_site, _, options, path, arguments = sort_words(list(words))
        site = site_files.current(site_name or other_site)
        plan = planned(numbers(ranks), repeat, options, site)
        check_outputs_differ(path, options)
        if chain is None:
            chain = scheduler_of(site).RUNS_HERE
        outputs = run_all(path, arguments, plan, site, chain)
    except (JobFileError, OptionError) as error:
        raise click.ClickException(str(error)) from None
    if not outputs:
        raise click.ClickException("no job succeeded, so there is nothing to compare")
    runs = [as_asked(run, outputs) for run in read_files(list(outputs))]
    click.echo(report(runs))
    known = size_table.comparable(runs)
    if known.by_size and not known.of.rate and not measured_by_themselves(runs):
        draw_beside(next(iter(outputs)).parent / f"{path.stem}_speedup.png", known)
    click.echo(
        f"\nThe same numbers later: autograder read {shlex.join(map(str, outputs))}", err=True
    )


def measured_by_themselves(runs: list[Run]) -> str:
    """Return the results of jobs that compare sizes within one launch. Empty for other jobs."""
    return "\n\n".join(filter(None, (scale_study.table(runs), scale_rounds.table(runs))))


def report(runs: list[Run]) -> str:
    return measured_by_themselves(runs) or size_table.text(size_table.comparable(runs))


def outputs_named(words: tuple[str, ...]) -> list[Path]:
    files = [Path(word) for word in words]
    if not files:
        raise click.UsageError("name --ranks and a job file, or outputs of earlier jobs")
    for file in files:
        if file.suffix == ".sbatch" or str(file).startswith("-"):
            raise click.UsageError("--ranks is missing: numbers of ranks, such as 1,2,4")
        if not file.is_file():
            raise click.UsageError(f"{file} is not there")
    return files


def numbers(text: str) -> list[int]:
    try:
        sizes = sorted({int(word) for word in text.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise click.UsageError(f"--ranks {text}: give numbers above 0, such as 1,2,4")
    return sizes


def planned(ranks: list[int], repeat: int, options: dict[str, str], site: Site) -> list[dict]:
    """Return sbatch's options for each job.

    The sizes alternate, so that a period of heavy load affects all of them.
    """
    by_hand = bool({"nodes", "ntasks-per-node"} & options.keys())
    return [
        options | ({"ntasks": str(number)} if by_hand else placing.placed(number, site))
        for _ in range(repeat)
        for number in ranks
    ]


def check_outputs_differ(path: Path, options: dict[str, str]) -> None:
    pattern = jobfile.request(jobfile.read(path), options).output
    if "%j" not in pattern and "%A" not in pattern:
        raise JobFileError(
            f"--output={pattern}: without %j each job of the study overwrites the previous output"
        )


def run_all(
    path: Path, arguments: list[str], plan: list[dict], site: Site, chain: bool
) -> dict[Path, int]:
    """Submit as many jobs at a time as the site accepts, and wait.

    Return the outputs of the successful jobs and the number of ranks of each.
    """
    most = int(site.settings.get("SITE_MAX_JOBS") or len(plan))
    jobs: list[str] = []
    ended: list[list[JobStatus]] = []
    for asked in plan:
        if len(jobs) - len(ended) == most:
            ended.append(wait_for(jobs[len(ended)], site))
        after = {"dependency": f"afterany:{jobs[-1]}"} if chain and len(jobs) > len(ended) else {}
        jobs.append(submit(path, arguments, asked | after, site))
    ended += [wait_for(job, site) for job in jobs[len(ended) :]]
    return {
        status.output: int(asked["ntasks"])
        for statuses, asked in zip(ended, plan, strict=True)
        for status in statuses
        if status.succeeded and status.output
    }


def as_asked(run: Run, outputs: dict[Path, int]) -> Run:
    """Return the run with the number of ranks that the job requested.

    The program itself may not know this number.
    """
    asked = next((ranks for file, ranks in outputs.items() if str(file) in run.files), None)
    return run if workers(run) else replace(run, workers=asked)


def draw_beside(file: Path, known: size_table.Sizes) -> None:
    try:
        scale_picture.draw(file, known.by_size, known.weak)
    except (ImportError, OSError) as error:
        click.echo(f"\nThe picture could not be drawn: {error}", err=True)
    else:
        click.echo(f"\nThe picture: {file}")
