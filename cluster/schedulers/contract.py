"""Define what the course needs from every batch system. Job states have Slurm's names."""

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
    ASK_BY_HAND: str  # printed by `cluster wait`; {0} is the job
    HEALTH: tuple[str, str] | None  # a command, and what it prints if all is well

    def submit(
        self, job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
    ) -> str:
        """Submit a job, show the command for it, and return its id as sbatch would print it."""

    def statuses(self, label: str) -> list[JobStatus]:
        """Return the job's status, or the status of each task of an array."""

    def queue(self) -> None:
        """Print the user's waiting and running jobs."""

    def unfinished(self) -> list[list[str]]:
        """Return a row in QUEUE_COLUMNS for each of the user's waiting and running jobs."""

    def cancel(self, label: str) -> None:
        """End a job, or remove it from the queue."""

    def accounting(self, labels: list[str], parsable: bool = True) -> None:
        """Print the accounting records of these jobs.

        The output is like that of `sacct -X -P`, or a table of the main columns.
        """

    def records(self, labels: list[str]) -> list[list[str]]:
        """Return the accounting records of these jobs as rows in SACCT_COLUMNS."""
