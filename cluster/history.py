"""What was submitted from here, one JSON line a job: where its output is, and what it was."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Submission:
    job_id: str
    site: str
    job_file: str  # absolute
    options: dict[str, str]
    arguments: list[str]
    output: str  # absolute pattern, with the job's name filled in by the scheduler or us
    submitted: float

    def asked_the_same(self, options: dict[str, str], arguments: list[str]) -> bool:
        return self.options == options and self.arguments == arguments


def file() -> Path:
    return Path.home() / ".dl-course" / "submitted.jsonl"


def remember(
    job_id: str, site: str, job: Path, options: dict, arguments: list[str], output: str
) -> None:
    submission = Submission(
        job_id, site, str(job.resolve()), options, arguments, output, time.time()
    )
    file().parent.mkdir(parents=True, exist_ok=True)
    with open(file(), "a") as opened:
        opened.write(json.dumps(asdict(submission)) + "\n")


def of(job: Path) -> list[Submission]:
    """What was submitted of this job file, oldest first."""
    if not file().is_file():
        return []
    wanted = json.dumps(str(job.resolve()))
    return [
        Submission(**json.loads(line)) for line in file().read_text().splitlines() if wanted in line
    ]
