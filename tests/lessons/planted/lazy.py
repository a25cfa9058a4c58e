"""The laziest ways to fill a gap: pass, a constant, an argument, or only the own rank.

Each runs, as a job like the planted mistakes, and has to lose the points of what it skipped.
"""

import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from lessons.edition.gaps import find_gaps
from tests.lessons.planted.table import Change, Lesson, Mistake

FEWEST = 1  # for each gap


@dataclass(frozen=True)
class Lazy:
    """Code in a gap instead of an answer, and the checks that it loses, with words of the reasons.

    also: other gaps of the lesson that are filled to hide it: gap -> code.
    beside: changes outside the gaps, for a program that takes less time.
    environ: added to that of the job. Jobs with a different one run in another process.
    base: the changed job, and the file of `Lesson.handed_in` that it makes; default: the last.
    start: as `Job.start`; "fails" for a program that cannot even run.
    """

    code: str
    loses: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[Change, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    start: str = ""


LazyTable = Mapping[str, Mapping[str, Lazy]]  # gap -> name -> what was put there
# Gap of a job file -> name -> what was put there, and words of the public check that refuses it.
LazyJobs = Mapping[str, Mapping[str, tuple[str, str]]]


@cache
def gaps_of(source: Path) -> dict[str, Change]:
    """The gaps of a lesson's programs and job files: "train.py 7.2", or with its whole label where
    that is not one alone, -> file, the text from marker to marker, and its indent."""
    found = {}
    for file in sorted((*source.glob("*.py"), *source.glob("*.sbatch"))):
        if file.name == "lesson.py":
            continue
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        gaps = find_gaps(text, file.name)
        often = Counter(gap.number for gap in gaps)
        for gap in gaps:
            name = gap.number if often[gap.number] == 1 else gap.label.removeprefix("Exercise ")
            whole = "".join(lines[gap.begin - 1 : gap.end])
            found[f"{file.name} {name}"] = (file.name, whole, gap.indent)
    return found


def filled(source: Path, gap: str, code: str) -> Change:
    file, whole, indent = gaps_of(source)[gap]
    body = textwrap.dedent(code).strip("\n") + "\n"
    return file, whole, textwrap.indent(body, indent)


def with_lazy(lesson: Lesson, table: LazyTable) -> Lesson:
    """Return the lesson with a job and a mistake for each row: "lazy 7.2 plain Adam"."""
    jobs, mistakes = dict(lesson.jobs), dict(lesson.mistakes)
    for gap, rows in table.items():
        for name, lazy in rows.items():
            file, base = base_of(lesson, lazy)
            fills = {gap: lazy.code, **lazy.also}
            changes = tuple(filled(lesson.source, where, code) for where, code in fills.items())
            job = lesson.jobs[base]
            title = f"lazy {gap.partition(' ')[2].partition(':')[0]} {name}"
            assert title not in jobs, f"two rows are called {title}"
            jobs[title] = replace(
                job,
                changes=(*changes, *lazy.beside, *job.changes),
                start=lazy.start or job.start,
                environ={**job.environ, **lazy.environ},
            )
            mistakes[title] = Mistake(title, lazy.loses, file)
    return replace(lesson, jobs=jobs, mistakes=mistakes)


def base_of(lesson: Lesson, lazy: Lazy) -> tuple[str, str]:
    """Return the submitted file that the lazy job makes, and the job that it changes."""
    if not lazy.base:
        return list(lesson.handed_in.items())[-1]
    [file] = [file for file, job in lesson.handed_in.items() if job == lazy.base]
    return file, lazy.base


def missing(lesson_source: Path, table: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Gaps with too few rows, and rows of no gap."""
    gaps = gaps_of(lesson_source)
    few = [gap for gap in gaps if len(table.get(gap, ())) < FEWEST]
    return [*few, *(gap for gap in table if gap not in gaps)]
