"""What the course asks of every batch system, and what each tells about a job, in Slurm's words."""

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

    What cannot be done is a click.ClickException: a sentence that says what to do.
    """

    SUBMIT_PROGRAM: str  # without it nothing can be handed over from here; "": none is needed
    RUNS_HERE: bool  # its jobs run on this machine, where they slow each other down
    ASK_EVERY: float  # seconds: when asked again and again, not more often in the long run
    ASK_BY_HAND: str  # shown by `cluster wait`; {0} is the job
    HEALTH: tuple[str, str] | None  # a command, and what it prints where all is well

    def submit(
        self, job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
    ) -> str:
        """Show how the job is handed over and do it; its id, as sbatch would print it."""

    def statuses(self, label: str) -> list[JobStatus]:
        """The job's state, or that of each task of an array."""

    def queue(self) -> None:
        """Print the user's jobs that wait or run."""

    def cancel(self, label: str) -> None:
        """End a job, or take it out of the queue."""

    def accounting(self, labels: list[str], parsable: bool = True) -> None:
        """Print what is on record about these jobs as `sacct -X -P` does, with its columns; or, for
        people, the main ones as a table."""
