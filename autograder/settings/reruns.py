"""Read what `cluster rerun` wrote: the instructor's own runs of submitted programs.

RERUNS/ada/02/rerun.json   the submission that was run again, and the jobs; written outside the jobs
RERUNS/ada/02/outputs/     these jobs' outputs, which are no more trustworthy than any other
"""

import json
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from autograder.errors import SettingsError
from autograder.safe_text import shortened

NAME, OUTPUTS = "rerun.json", "outputs"


@dataclass(frozen=True, slots=True)
class RepeatedJob:
    """One job of a rerun.

    Times are in seconds since 1970, by the clock of the machine that submitted the job.
    """

    job_id: str
    files: tuple[str, ...]  # its outputs, in the folder of outputs
    state: str  # as the scheduler reports it
    submitted: float
    ended: float
    launches: tuple[str, ...]  # the student's runs that it repeats, by their ids in the record
    # whether no other job used its cores, so that speeds can be compared
    undisturbed: bool = False


@dataclass(frozen=True, slots=True)
class Rerun:
    """The rerun of one student's lesson."""

    student: str
    lesson: str
    outputs: Path
    jobs: tuple[RepeatedJob, ...]
    key: str  # changes with the submission that was run again


def read_reruns(folder: Path | None) -> dict[tuple[str, str], Rerun]:
    """Return the reruns by student and lesson.

    An unreadable file is an error, because these files are the instructor's.
    """
    if folder is None:
        return {}
    found = [read_rerun(path) for path in sorted(folder.glob(f"*/*/{NAME}"))]
    if not found:
        raise SettingsError(f"{folder} has no reruns: run `cluster rerun CLASS/STUDENT NN`")
    return {(rerun.student, rerun.lesson): rerun for rerun in found}


def read_rerun(path: Path) -> Rerun:
    try:
        content = path.read_bytes()
        told = json.loads(content)
        return Rerun(
            student=str(told["student"]),
            lesson=str(told["lesson"]),
            outputs=path.parent / OUTPUTS,
            jobs=tuple(map(repeated_job, told["jobs"])),
            key=blake2b(content, digest_size=16).hexdigest(),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{path} is not what `cluster rerun` writes ({shortened(error, 80)}): run it again"
        ) from None


def repeated_job(told: dict[str, Any]) -> RepeatedJob:
    return RepeatedJob(
        job_id=str(told["job_id"]),
        files=tuple(Path(str(name)).name for name in told["files"]),
        state=str(told["state"]),
        submitted=float(told["submitted"]),
        ended=float(told["ended"]),
        launches=tuple(map(str, told["launches"])),
        undisturbed=told.get("undisturbed") is True,
    )
