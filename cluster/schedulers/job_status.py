"""What every scheduler can tell about a job, in Slurm's words."""

from dataclasses import dataclass
from pathlib import Path

WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "RESV_DEL_HOLD", "SUSPENDED"}
ONGOING = {"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING"}

# The first line of `sacct -X -P` with the course's --format.
ACCOUNTING = (
    "JobID|User|Account|JobName|Partition|State|ExitCode|DerivedExitCode|Submit|Start|End"
    "|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|AllocTRES|NodeList|SubmitLine"
)


@dataclass(frozen=True)
class Status:
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
