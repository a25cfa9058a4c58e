"""`cluster logs`: print a job's output without the run record.

With -f it follows the output until the job ends.
"""

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from cluster.jobs import failure_advice
from cluster.jobs.readable import readable
from cluster.schedulers.contract import JobStatus
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files


@click.command("logs")
@click.option("--follow", "-f", is_flag=True, help="Follow the output until the job ends.")
@click.option("--error", "-e", "error", is_flag=True, help="Show the error file, not the output.")
@click.argument("label", metavar="JOB")
def logs_command(follow: bool, error: bool, label: str) -> None:
    """Print a job's output, without the lines of the run record, which are for programs."""
    scheduler = scheduler_of(site_files.current())

    def ask() -> tuple[JobStatus, Path | None]:
        status = scheduler.statuses(label)[0]
        if status.output is None:  # submitted by the scheduler's own command
            out, err = (named_after(label, ending) for ending in ("out", "err"))
            status = replace(status, output=out, error=err)
        return status, status.error if error and status.error else status.output

    status, file = ask()
    if not follow and not (file and file.is_file()):
        where = file or f"file in this folder with {label} in its name"
        raise click.ClickException(f"job {label} is {status.state}: there is no {where} yet")
    # Terminals of a Jupyter that was started in the background, as in Open OnDemand, ignore Ctrl+C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pause = min(5.0, scheduler.ASK_EVERY)
    chunks = followed(ask, pause) if follow else [file.read_bytes()]  # type: ignore[union-attr]
    try:
        for chunk in readable(chunks):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    except KeyboardInterrupt:
        text = f"\nYou stopped watching, but job {label} continues. To end it: scancel {label}"
        click.echo(text, err=True)
        raise SystemExit(130) from None
    if follow:
        status, file = ask()
        click.echo(f"job {label}: {status.state}", err=True)
    point_to_errors(status, file)


def named_after(label: str, ending: str) -> Path | None:
    """Return this folder's newest file with the job's number in its name: 02_keras_12.out."""
    label = re.escape(label)  # the number at the start of 10_native_12.out is the lesson's
    own = re.compile(rf"(?:{label}|.*\D{label}(?:\D.*)?)\.{ending}")
    files = [file.resolve() for file in Path().iterdir() if own.fullmatch(file.name)]
    return max(files, key=lambda file: file.stat().st_mtime, default=None)


def point_to_errors(status: JobStatus, shown: Path | None) -> None:
    """Name the error file of a failed job, which usually holds the reason, and give advice."""
    if not status.over:  # after a job's end, the batch system can take a minute to record how
        click.echo(f"job {status.label}: {status.state}; its end is not recorded yet", err=True)
    if not status.over or status.succeeded:
        return
    error = status.error
    if error and error != shown and error.is_file() and error.stat().st_size:
        click.echo(
            f"job {status.label} is {status.state}; its errors are in {error}:"
            f" cluster logs -e {status.label}",
            err=True,
        )
    failure_advice.advise(status, lambda line: click.echo(line, err=True))


def followed(ask: Callable[[], tuple[JobStatus, Path | None]], pause: float) -> Iterator[bytes]:
    """Yield the file's bytes as they arrive, until the job has ended and the file is read."""
    position, asked = 0, -pause
    while True:
        if time.monotonic() - asked >= pause:
            (status, file), asked = ask(), time.monotonic()
        over = status.over  # asked before reading, so that nothing is missed
        if file and file.is_file():
            with open(file, "rb") as opened:
                if file.stat().st_size < position:  # started again after a requeue
                    position = 0
                opened.seek(position)
                while chunk := opened.read(1 << 16):
                    position += len(chunk)
                    yield chunk
        if over:
            return
        time.sleep(min(0.25, pause))
