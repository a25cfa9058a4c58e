"""Which of several hand-ins is the last where their times do not say it.

Two zips of one folder are equally old by what is in them, if the file that was changed last lies in
both. The time of the zips themselves tells them apart, unless they were copied or downloaded since.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions import archives
from autograder.submissions.folders import NOWHERE, Folder
from autograder.submissions.one_lesson import contents_of
from autograder.verdict import Finding

FILES_S = 2.0  # a zip's clock counts every other second
PACKAGES_S = 60.0  # a class that is copied or unpacked gets times as near as this
BROWSERS = re.compile(r" ?\((\d{1,3})\)\Z")  # the second `work.zip` of a folder of downloads


class HandIn(Protocol):
    @property
    def shown(self) -> str: ...


One = TypeVar("One", bound=HandIn)


def the_last(
    folder: Folder,
    units: Mapping[One, Sequence[Path]],
    told: Mapping[One, float | None],
) -> tuple[One, list[Finding]]:
    """Of hand-ins with their files and with the times that the platform tells, if it does."""
    left = list(units)
    if all(time is not None for time in told.values()):
        left = newest(left, lambda one: told[one] or 0.0, 0.0)
    left = newest(left, lambda one: changed(units[one]), FILES_S)
    if all(packed_at(folder, units[one]) for one in left):
        left = newest(left, lambda one: packed_at(folder, units[one]), PACKAGES_S)
    equal = left
    inside = {one: contents_in(folder, units[one]) for one in (left if len(left) > 1 else ())}
    left = [one for one in left if all(inside[one] >= inside[other] for other in inside)] or left
    last = max(left, key=lambda one: (browsers_number(one.shown), one.shown, str(one)))
    if len({frozenset(contents) for contents in inside.values()}) < 2:
        return last, []  # one is left, or all hold the same
    return last, [say_which(equal, last, len(left) < len(equal))]


def newest(some: list[One], time: Callable[[One], float], apart: float) -> list[One]:
    """All that are about as new as the newest."""
    newest_of_all = max(map(time, some))
    return [one for one in some if newest_of_all - time(one) <= apart]


def changed(paths: Sequence[Path]) -> float:
    return max((path.lstat().st_mtime for path in paths), default=0.0)


def packed_at(folder: Folder, paths: Sequence[Path]) -> float:
    return max((folder.origins.get(path, NOWHERE).packed_at for path in paths), default=0.0)


def contents_in(folder: Folder, paths: Sequence[Path]) -> set[tuple[str, bytes]]:
    names = folder.outputs | folder.answers | folder.reports
    return contents_of({path: names[path] for path in paths})


def browsers_number(name: str) -> int:
    number = BROWSERS.search(archives.stem(name))
    return int(number[1]) if number else 0


def say_which(equal: Sequence[HandIn], last: HandIn, by_contents: bool) -> Finding:
    names = [shortened(one.shown, 80) for one in sorted(equal, key=lambda one: one.shown)]
    taken = shortened(last.shown, 80)
    many = "Two" if len(names) == 2 else "Several"
    why = "for it holds all files of the others" if by_contents else "for its name alone"
    return Finding(
        "collect",
        f"{many} hand-ins have the same time; `{taken}` was taken: say which is meant",
        code=FindingCode.SAME_TIME,
        expected="hand-ins of which the time says which is the last",
        found=shortened(f"{' and '.join(names)}; {taken} was taken, {why}", 300),
        where=tuple(Where(name, 0) for name in names[:4]),
        try_="tell your instructor which is meant, or hand in that one alone",
        look=True,
    )
