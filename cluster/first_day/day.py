"""Keep what the steps of a first day share: the site, a folder, and the steps that have passed."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cluster.jobs.notebook import JobError, submit_once
from cluster.sites.site_files import Site


class WrongError(Exception):
    """The first problem of a day, and what to do about it."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(found)
        self.found, self.advice = found, advice


@dataclass(frozen=True)
class Passed:
    found: str
    remarks: tuple[str, ...] = ()
    tried: bool = True


@dataclass
class Day:
    site: Site
    folder: Path
    solutions: Path
    passed: list[tuple["Step", Passed, float]] = field(default_factory=list)  # with their seconds

    def job(self, job_file: Path, *words: str, **options: str) -> Path:
        """Return a successful job's output. Submit the job only if it has not succeeded yet."""
        named = {name.replace("_", "-"): value for name, value in options.items()}
        try:
            *_, output = submit_once(str(job_file), *words, options=named)
        except JobError as error:
            by_hand = f"the job is {job_file}; by hand: cd {job_file.parent}, cluster submit"
            raise WrongError(str(error), by_hand) from None
        return output

    def copied(self, lesson: str) -> Path:
        """Copy a lesson's solution into this day's folder."""
        own = self.folder / "runs" / lesson[:2]
        own.mkdir(parents=True, exist_ok=True)
        for file in (self.solutions / lesson).iterdir():
            if file.suffix in (".py", ".sbatch") and not (own / file.name).exists():
                shutil.copy(file, own)
        return own


@dataclass(frozen=True)
class Step:
    name: str  # one word, for SITE_TESTED
    title: str
    function: Callable[[Day], Passed]
