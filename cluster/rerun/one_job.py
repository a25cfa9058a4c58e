"""Submit a job and wait for it, in the account that it belongs to: python -m cluster.rerun.one_job.

The words are those of sbatch. The last line printed is the job's number and its state.
"""

import signal
import sys
from pathlib import Path

import click

from cluster.job_file.sbatch_options import take_options
from cluster.jobs.submit import submit
from cluster.jobs.wait import describe, watch
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl+C: the job is cancelled
    options, (file, *words) = take_options(sys.argv[1:])
    try:
        site = site_files.current()
        job = submit(Path(file), words, options, site)
        try:
            said = ""
            for status, *_ in watch(job, site):
                if said != (said := describe(status)):
                    print(said, file=sys.stderr)
        except BaseException:  # interrupted
            scheduler_of(site).cancel(job)
            raise
    except (click.ClickException, OSError) as error:
        sys.exit(error.format_message() if isinstance(error, click.ClickException) else str(error))
    print(job, status.state)


if __name__ == "__main__":
    main()
