"""Define what the course needs from every batch system. Job states have Slurm's names."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cluster.job_file.jobfile import JobFile
from cluster.sites.site_files import Site

WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "RESV_DEL_HOLD", "SUSPENDED"}
ONGOING = {"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING"}

Show = Callable[[str], object]


@dataclass(frozen=True)
class JobStatus:
    label: str  # 12, or 12_3 for a task of an array
    state: str
    reason: str = ""
    expected_start: str = ""
    output: Path | None = None
    error: Path | None = None

    @property
    def over(self) -> bool:
        return self.state not in WAITING | ONGOING

    @property
    def succeeded(self) -> bool:
        return self.state == "COMPLETED"


class Scheduler(Protocol):
    """A batch system: a module with these names, and a row in known.py.

    A function that cannot do its work raises a click.ClickException that says what to do.
    """

    SUBMIT_PROGRAM: str  # required for submitting; "" if no program is needed
    RUNS_HERE: bool  # its jobs run on this machine, so they slow each other down
    ASK_EVERY: float  # seconds between repeated requests after some time
    HEALTH: tuple[str, str] | None  # a command, and what it prints if all is well

    def submit(
        self, job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
    ) -> str:
        """Submit a job, show the command for it, and return its id as sbatch would print it."""

    def statuses(self, label: str) -> list[JobStatus]:
        """Return the job's status, or the status of each task of an array."""

    def cancel(self, label: str) -> None:
        """End a job, or remove it from the queue."""


class WithoutSlurm(Scheduler, Protocol):
    """A batch system that answers `squeue`, `scancel` and `sacct` where there is no Slurm."""

    def show_queue(self, labels: list[str]) -> None:
        """Print the user's waiting and running jobs, or these, as a table."""

    def send_signal(self, label: str, number: signal.Signals) -> None:
        """Send a signal to the steps of a job."""

    def records(self, labels: list[str]) -> list[dict[str, str]]:
        """Return the accounting records of these jobs, by sacct's columns."""
