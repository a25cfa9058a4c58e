"""Keep the jobs that were submitted from this account, one JSON line per job.

A line includes the names of the job's output files.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cluster.job_file import jobfile


@dataclass(frozen=True)
class Submission:
    job_id: str
    site: str
    job_file: str  # absolute
    options: dict[str, str]
    arguments: list[str]
    output: str  # absolute; %j and other numbers are not filled in yet
    error: str | None
    submitted: float
    files: dict[str, str] = field(default_factory=dict)  # what runs, with hashes

    def asked_the_same(self, options: dict[str, str], arguments: list[str]) -> bool:
        return self.options == options and self.arguments == arguments


def file() -> Path:
    return Path.home() / ".dl-course" / "submitted.jsonl"


def remember(submission: Submission) -> None:
    file().parent.mkdir(parents=True, exist_ok=True)
    with open(file(), "a") as opened:
        opened.write(json.dumps(asdict(submission)) + "\n")


def everything() -> list[Submission]:
    if not file().is_file():
        return []
    return [Submission(**json.loads(line)) for line in file().read_text().splitlines()]


def of(job: Path) -> list[Submission]:
    """Return the submissions of this job file, oldest first."""
    wanted = str(job.resolve())
    return [submission for submission in everything() if submission.job_file == wanted]


def with_id(job_id: str) -> Submission | None:
    """Return the latest submission with this id. Two sites can use the same id."""
    same_id = [submission for submission in everything() if submission.job_id == job_id]
    return same_id[-1] if same_id else None


def file_of(label: str, stream: str) -> Path | None:
    """Return the output or error file of job 12 or task 12_3; None if it is not known from here."""
    array, _, index = label.partition("_")
    known = with_id(array)
    if known is None or (pattern := getattr(known, stream)) is None:
        return None
    task = (int(array), int(index)) if index.isdigit() else None
    return Path(jobfile.fill(pattern, jobfile.values_of(int(array), "", "*", task)))
