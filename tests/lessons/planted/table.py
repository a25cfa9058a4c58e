"""The words of the tables: what a student may have done wrong, how it is run, what it costs."""

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
    """A student whose folder is right but for one output: each check it loses, words of why.

    replaces: the file of `Lesson.handed_in` that is this job's; as a rule the last.
    """

    job: str
    loses: Mapping[str, str]
    replaces: str = ""


@dataclass(frozen=True)
class Lesson:
    """What is run of a lesson, what a student without a mistake hands in, and the mistakes.

    never: checks that so small a hand-in does not earn, right or wrong.
    may: checks that a mistake may lose besides, by chance.
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
        """What is handed in with this mistake: file -> job."""
        planted = self.mistakes[mistake]
        return {**self.handed_in, planted.replaces or list(self.handed_in)[-1]: planted.job}

    def needed(self, job: str) -> list[str]:
        """The job, and before it those whose files it begins with."""
        before = self.jobs[job].after
        return [*(self.needed(before) if before else ()), job]

    def misfits(self) -> list[str]:
        """Planted changes that do not fit in exactly one place of the program of today."""
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
