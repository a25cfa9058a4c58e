"""A lesson's honest jobs and plants, from lessons/NN.toml: possible mistakes, and their cost.

    [honest.right]
    file = "07_2.out"                # a file that a student without a mistake submits
    run = "--epochs 4"               # how the program is started; `ranks` for mpirun
    ranks = 2

    [plants."rate not scaled"]
    of = "right"                     # the honest job that it changes; default: the last one
    loses = {rate = "by hvd.size()"} # each check that it loses, with words of the reason
    patch."train.py 7.2" = ["Adam(lr * hvd.size())", "Adam(lr)"]

A patch names a gap, by its file, its number and enough of its label. Its value is the code in that
gap, or pairs of texts: one that is once in the solution's gap, and what a student wrote. A file
alone, with such pairs, is changed outside of its gaps. Lazy plants fill a gap without the work.
"""

import dataclasses
import re
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from lessons.edition.gaps import Gap, find_gaps

ROOT = Path(__file__).parents[3]
Patch = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Job:
    """One real run of a lesson's program; what it prints is kept.

    ranks: how many `mpirun` starts; 0 is the program alone, without a launcher.
    start: how it is run and has to end, a name in `start.ALONE`, or "together".
    before: programs of the lesson that run first in the job's folder, with their arguments.
    after: the job whose files the folder begins with. as_long_as: a source whose reading time in
    that job's output the program gets as --compute-ms. probe: whether probe.py follows, as in the
    lesson's job file, with the same arguments.
    """

    run: str = ""
    ranks: int = 0
    start: str = "together"
    program: str = "train.py"
    before: Sequence[str] = ()
    after: str = ""
    as_long_as: str = ""
    probe: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    patch: Patch = field(default_factory=dict)
    file: str = ""
    of: str = ""
    loses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    """A lesson's jobs.

    never: checks that such a small submission does not pass, right or wrong.
    may: checks that a mistake may also lose by chance.
    """

    source: Path
    honest: Mapping[str, Job]
    plants: Mapping[str, Job]
    never: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()

    @property
    def number(self) -> str:
        return self.source.name[:2]

    @cached_property
    def jobs(self) -> dict[str, Job]:
        return {**self.honest, **self.plants}

    def files_of(self, plant: str = "") -> dict[str, str]:
        """Return the files that are submitted with this mistake, or with none: file -> job."""
        files = {job.file: name for name, job in self.honest.items() if job.file}
        if plant:
            files[self.honest[self.plants[plant].of].file] = plant
        return files

    def needed(self, job: str) -> list[str]:
        """Return the job, preceded by those whose files it begins with."""
        before = self.jobs[job].after
        return [*(self.needed(before) if before else ()), job]


def load(file: Path) -> Lesson:
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    honest = {name: Job(**row) for name, row in found.pop("honest").items()}
    plants = {}
    for name, row in found.pop("plants").items():
        base = row.setdefault("of", [name for name, job in honest.items() if job.file][-1])
        row["patch"] = merged(honest[base].patch, row.get("patch", {}))
        plants[name] = dataclasses.replace(honest[base], **{"file": "", **row})
    checks = {name: frozenset(found.pop(name, ())) for name in ("never", "may")}
    return Lesson(ROOT / "solutions" / found.pop("folder"), honest, plants, **checks, **found)


def merged(base: Patch, own: Patch) -> Patch:
    both = {place: [*base[place], *own[place]] for place in base.keys() & own.keys()}
    return {**base, **own, **both}


@cache
def gaps_of(source: Path) -> dict[str, tuple[Gap, str]]:
    """Return the gaps of programs and job files: "train.py 7.2: label" -> gap, marker to marker."""
    found = {}
    for file in sorted((*source.glob("*.py"), *source.glob("*.sbatch"))):
        if file.name != "lesson.py":
            text = file.read_text(encoding="utf-8")
            lines = text.splitlines(keepends=True)
            for gap in find_gaps(text, file.name):
                name = f"{file.name} {gap.label.removeprefix('Exercise ')}"
                found[name] = gap, "".join(lines[gap.begin - 1 : gap.end])
    return found


def gap_named(source: Path, place: str) -> str:
    """Return the full name of the one gap that the beginning of its name means."""
    found = [name for name in gaps_of(source) if re.match(rf"{re.escape(place)}\b", name)]
    assert len(found) == 1, f"{source.name}: {len(found)} gaps are called {place!r}"
    return found[0]


def patched(source: Path, patch: Patch) -> dict[str, str]:
    """Return the changed files of a lesson: name -> text."""
    texts: dict[str, str] = {}
    for place, value in patch.items():
        file, _, inside = place.partition(" ")
        text = texts.get(file) or (source / file).read_text(encoding="utf-8")
        if inside:
            gap, whole = gaps_of(source)[gap_named(source, place)]
            if isinstance(value, str):
                filled = textwrap.indent(textwrap.dedent(value).strip("\n") + "\n", gap.indent)
            else:
                filled = replaced(whole, value, f"{source.name}, {place}")
            text = replaced(text, (whole, filled), f"{source.name}, {place}")
        else:
            text = replaced(text, value, f"{source.name}, {place}")
        texts[file] = text
    return texts


def replaced(text: str, pairs: Sequence[str], where: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1, f"{where} has {text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


LESSONS = {
    file.stem: load(file) for file in sorted((Path(__file__).parent / "lessons").glob("*.toml"))
}
