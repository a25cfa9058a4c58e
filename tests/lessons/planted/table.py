"""The types of the tables: a student's possible mistakes, their runs, and their cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[3]

Change = tuple[str, str, str]  # a file of the lesson, what stands there, what a student wrote


@dataclass(frozen=True)
class Job:
    """One real run of a lesson's program; what it prints is kept.

    ranks: how many `mpirun` starts; 0 is the program alone, without a launcher.
    start: how it is run and has to end, a name in `start.STARTS`.
    before: programs of the lesson that run first in the job's folder, with their arguments.
    after: the job whose files the folder begins with; `measured` gives words from its output.
    """

    changes: tuple[Change, ...] = ()
    words: tuple[str, ...] = ()
    ranks: int = 0
    start: str = "together"
    program: str = "train.py"
    before: tuple[tuple[str, ...], ...] = ()
    after: str = ""
    measured: Callable[[Path], tuple[str, ...]] | None = None
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mistake:
    """A student with one wrong output: each check that it loses, with words of the reason.

    replaces: the file of `Lesson.handed_in` that comes from this job; by default the last.
    """

    job: str
    loses: Mapping[str, str]
    replaces: str = ""


@dataclass(frozen=True)
class Lesson:
    """A lesson's jobs, the files that a student without a mistake submits, and the mistakes.

    never: checks that such a small submission does not pass, right or wrong.
    may: checks that a mistake may also lose by chance.
    """

    folder: str
    jobs: Mapping[str, Job]
    handed_in: Mapping[str, str]  # file -> job
    mistakes: Mapping[str, Mistake]
    never: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()

    @property
    def number(self) -> str:
        return self.folder[:2]

    @property
    def source(self) -> Path:
        return ROOT / "solutions" / self.folder

    def files_of(self, mistake: str) -> dict[str, str]:
        """Return the files that are submitted with this mistake: file -> job."""
        planted = self.mistakes[mistake]
        return {**self.handed_in, planted.replaces or list(self.handed_in)[-1]: planted.job}

    def needed(self, job: str) -> list[str]:
        """Return the job, preceded by those whose files it begins with."""
        before = self.jobs[job].after
        return [*(self.needed(before) if before else ()), job]

    def misfits(self) -> list[str]:
        """Return planted changes that do not match exactly one place of the current program."""
        found = []
        for name, job in self.jobs.items():
            texts: dict[str, str] = {}
            for file, old, new in job.changes:
                text = texts.get(file) or (self.source / file).read_text(encoding="utf-8")
                if text.count(old) != 1:
                    found.append(
                        f"{self.number}, {name}: {file} has {text.count(old)} times: {old}"
                    )
                texts[file] = text.replace(old, new)
        return found
