"""Read what `cluster rerun` wrote: the instructor's own runs of submitted programs.

RERUNS/ada/02/rerun.json   the submission that was run again, and the jobs; written outside the jobs
RERUNS/ada/02/outputs/     these jobs' outputs, which are no more trustworthy than any other
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from autograder.errors import SettingsError
from autograder.settings.strict_yaml import reason

NAME = "rerun.json"


class RepeatedJob(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)  # some schedulers' job ids are numbers

    job_id: str
    # Only the last part of a path, so that no file outside the folder of outputs is read.
    files: tuple[Annotated[str, AfterValidator(lambda text: Path(text).name)], ...]
    launches: tuple[str, ...]  # the student's runs that it repeats, by their ids in the record


class Rerun(BaseModel):
    student: str
    lesson: str
    jobs: tuple[RepeatedJob, ...]
    outputs: Path = Path()


def read_reruns(folder: Path | None) -> dict[tuple[str, str], Rerun]:
    """Return the reruns by student and lesson. An unreadable file is the instructor's error."""
    reruns = {}
    for path in sorted(folder.glob(f"*/*/{NAME}")) if folder else ():
        try:
            rerun = Rerun.model_validate_json(path.read_bytes())
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"{path} is not what `cluster rerun` writes ({reason(error)}): run it again"
            ) from None
        outputs = {"outputs": path.parent / "outputs"}
        reruns[rerun.student, rerun.lesson] = rerun.model_copy(update=outputs)
    if folder and not reruns:
        raise SettingsError(f"{folder} has no reruns: run `cluster rerun CLASS/STUDENT NN`")
    return reruns
