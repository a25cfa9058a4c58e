"""Read what `cluster rerun` wrote: the instructor's own runs of submitted programs.

RERUNS/ada/02/rerun.json   the submission that was run again, and the jobs; written outside the jobs
RERUNS/ada/02/outputs/     these jobs' outputs, which are no more trustworthy than any other
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictBool

from autograder.errors import SettingsError
from autograder.settings.strict_yaml import reason

NAME, OUTPUTS = "rerun.json", "outputs"


def last_part(text: str) -> str:
    """Return the last part of a path, so that no file outside the folder is read."""
    return Path(text).name


@dataclass(frozen=True, slots=True)
class RepeatedJob:
    """One job of a rerun.

    Times are in seconds since 1970, by the clock of the machine that submitted the job.
    """

    job_id: str
    files: tuple[Annotated[str, AfterValidator(last_part)], ...]  # in the folder of outputs
    state: str  # as the scheduler reports it
    submitted: float
    ended: float
    launches: tuple[str, ...]  # the student's runs that it repeats, by their ids in the record
    # whether no other job used its cores, so that speeds can be compared
    undisturbed: StrictBool = False


class RerunFile(BaseModel):
    """The fields of rerun.json that the grader uses."""

    model_config = ConfigDict(coerce_numbers_to_str=True)  # some schedulers' job ids are numbers

    student: str
    lesson: str
    jobs: tuple[RepeatedJob, ...]


@dataclass(frozen=True, slots=True)
class Rerun:
    """The rerun of one student's lesson."""

    student: str
    lesson: str
    outputs: Path
    jobs: tuple[RepeatedJob, ...]


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
        file = RerunFile.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} is not what `cluster rerun` writes ({reason(error)}): run it again"
        ) from None
    return Rerun(
        student=file.student,
        lesson=file.lesson,
        outputs=path.parent / OUTPUTS,
        jobs=file.jobs,
    )
