"""The jobs that a lesson has submitted end with it, also those that still wait in the queue."""

import contextlib
import os
from pathlib import Path

import click

from cluster.schedulers import choice, history
from cluster.sites import site


def cancel_jobs(folder: Path) -> list[str]:
    """Cancel all unfinished jobs whose job file lies below `folder`; their labels."""
    here = str(folder.resolve()) + os.sep
    mine = [
        submission for submission in history.everything() if submission.job_file.startswith(here)
    ]
    cancelled = []
    for submission in mine:
        with contextlib.suppress(click.ClickException):  # so long over that nothing is known
            scheduler = choice.of(site.current(submission.site))
            if any(not status.over for status in scheduler.statuses(submission.job_id)):
                scheduler.cancel(submission.job_id)
                cancelled.append(f"job {submission.job_id}")
    return cancelled
