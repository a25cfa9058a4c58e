"""When a lesson was handed in, once or several times, and what the platform says of it.

A hand-in is a place of the student's (a download, a folder of JupyterHub's exchange) and in it a
package or a folder named after the lesson. With `--latest` the last one counts, by the time that
the platform noted, else by when its files were last changed (same_time.py, where these are equal).
Without it all of them count, and so the time of the last place.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from pathlib import Path, PurePath
from typing import NamedTuple

from autograder.classroom.same_time import the_last
from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.settings.policy import handed_in_at
from autograder.submissions import archives
from autograder.submissions.claims import Said
from autograder.submissions.file_kinds import HANDED_IN, is_package
from autograder.submissions.folders import MOST_FINDINGS, NOWHERE, Folder
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.verdict import Finding

KINDS = ("outputs", "answers", "reports")


class HandedIn(NamedTuple):
    """Which hand-in a file belongs to."""

    lies_in: str  # of one download all files of a student lie in one folder, and are one hand-in
    label: str
    top: str = ""  # a package or the lesson's folder in it; empty: beside these

    @property
    def shown(self) -> str:
        return self.top or self.label or self.lies_in


Part = Callable[[HandedIn], HandedIn | None]


def place_alone(one: HandedIn) -> HandedIn:
    return one._replace(top="")


def with_top(one: HandedIn) -> HandedIn | None:
    return one if one.top else None


def settle(folder: Folder, latest: bool) -> None:
    """The time of handing in, and what of several hand-ins counts."""
    if latest:
        keep_latest(folder)
    settle_time(folder)
    there = [path for path in files(folder) if path in folder.origins]
    said = dict.fromkeys(folder.origins[path].said for path in there)
    times = sorted((one.time for one in said if one.time), key=lambda time: as_seconds(time) or 0)
    if times and not folder.handed_in:
        folder.handed_in = times[-1]
    folder.findings += doubts(said, folder.handed_in)


def files(folder: Folder) -> Iterator[Path]:
    for kind in KINDS:
        yield from getattr(folder, kind)


def doubts(said: Iterable[Said], handed_in: str | None) -> Iterator[Finding]:
    for doubt in dict.fromkeys(one.doubt for one in said if one.doubt):
        yield Finding(
            "collect",
            "It is not sure whose hand-in this is",
            code=FindingCode.OWNER_UNCERTAIN,
            expected="one student's number and name",
            found=doubt,
            try_="instructor: look who handed it in, and mend the roster or the folder's name",
            look=True,
            private=True,
        )
    if any(one.late for one in said) and not handed_in:
        yield Finding(
            "collect",
            "The platform marked this as late, and does not say how late",
            code=FindingCode.MARKED_LATE,
            expected="a time of handing in",
            found="LATE in the file's name",
            try_="instructor: give the time with --times, if days count",
            look=True,
        )


# --- by files that say it -----------------------------------------------------------------------


def settle_time(folder: Folder) -> None:
    """In each place the file nearest the lesson's top is the one that the tool wrote which took the
    work; one that lies deeper, or in a package, came with the work."""
    if not folder.times:
        return
    in_order = sorted(folder.stamps, key=lambda path: below_lesson(folder.stamps[path]))
    nearest: dict[HandedIn, Path] = {}
    for path in in_order:
        nearest.setdefault(place_of(folder, path), path)
    having_work = {place_of(folder, path) for path in files(folder)}
    each = [path for place, path in nearest.items() if place in having_work]
    first = max(each or nearest.values(), key=lambda path: as_seconds(folder.times[path]) or 0.0)
    folder.handed_in = folder.times[first]
    differ = [path for path in in_order if folder.times[path] != folder.handed_in]
    if differ and len(folder.findings) < MOST_FINDINGS:
        names = {
            path: name if len(nearest) < 2 else PurePath(place_of(folder, path).lies_in, name)
            for path, name in folder.stamps.items()
        }
        told = [f"{folder.times[p] or 'nothing'} in {shortened(names[p], 80)}" for p in differ]
        counts = f"{folder.handed_in or 'nothing'} in {shortened(names[first], 80)}, which counts"
        folder.findings.append(
            Finding(
                "collect",
                "Several files say when this was handed in, and they differ",
                code=FindingCode.TIMES_DIFFER,
                expected=f"one {HANDED_IN}",
                found=shortened(f"{counts}; " + ", ".join(told), 300),
                where=tuple(Where(shortened(names[p]), 0) for p in (first, *differ[:3])),
                try_="instructor: if another one is right, say so with --times",
                look=True,
            )
        )


def place_of(folder: Folder, path: Path) -> HandedIn:
    return place_alone(hand_in_of(folder, path, ""))


def below_lesson(name: PurePath) -> tuple[int, int, PurePath]:
    """How far below its lesson's folder a file lies, and in how many packages."""
    folders = name.parts[:-1]
    packed = [is_package(part) for part in folders]
    named = [archives.stem(n) if p else n for n, p in zip(folders, packed, strict=True)]
    top = next((number for number, part in enumerate(named, 1) if lesson_of(part)), 0)
    return len(folders) - top, sum(packed), name


# --- the last of several ----------------------------------------------------------------------


def keep_latest(folder: Folder) -> None:
    """First of several places, then of the packages and lesson's folders in what is left."""
    left_out = keep_last(folder, place_alone) + keep_last(folder, with_top)
    if left_out:
        folder.findings.append(
            Finding(
                "collect",
                "Of several hand-ins the last counts",
                code=FindingCode.LATEST_COUNTS,
                expected="one hand-in for a lesson",
                found=shortened("left out: " + ", ".join(left_out), 300),
                where=tuple(Where(shortened(name, 80), 0) for name in left_out[:4]),
            )
        )


def keep_last(folder: Folder, part: Part) -> list[str]:
    """Leave out all but the last; what lies beside packages and folders stays."""
    units: dict[HandedIn | None, list[Path]] = {}
    for kind in KINDS:
        for path, name in getattr(folder, kind).items():
            units.setdefault(part(hand_in_of(folder, path, name)), []).append(path)
    apart = {unit: paths for unit, paths in units.items() if unit and holds_work(folder, paths)}
    if len(apart) < 2:
        return []
    times = {unit: time_of(folder, unit, paths, part) for unit, paths in apart.items()}
    last, doubt = the_last(folder, apart, times)
    folder.findings += doubt
    dropped = [unit for unit in apart if unit != last]
    for unit in dropped:
        for path in apart[unit]:
            for kind in KINDS:
                getattr(folder, kind).pop(path, None)
    for path, name in list(folder.stamps.items()):
        if part(hand_in_of(folder, path, str(name))) in dropped:
            del folder.stamps[path]
            del folder.times[path]
    return [shortened(unit.shown, 80) for unit in sorted(dropped)]


def holds_work(folder: Folder, paths: Iterable[Path]) -> bool:
    return any(path in folder.outputs or path in folder.answers for path in paths)


def hand_in_of(folder: Folder, path: Path, name: str) -> HandedIn:
    place, said, _ = folder.origins.get(path, NOWHERE)
    top = "" if said.called else top_of(PurePath(name))
    return HandedIn(said.lies_in or place.parent.name, said.label, top)


def top_of(name: PurePath) -> str:
    """The package or the folder named after a lesson that a file lies in."""
    folders = name.parts[:-1]
    for depth, part in enumerate(folders, start=1):
        if is_package(part) or lesson_of(part) or hinted_lesson(archives.stem(part)):
            return "/".join(folders[:depth])
    return ""


def time_of(folder: Folder, unit: HandedIn, paths: Iterable[Path], part: Part) -> float | None:
    """As the platform noted it for a place, or a file in the hand-in says."""
    said = [folder.origins[path].said.time for path in paths if path in folder.origins]
    said += [
        folder.times[path]
        for path, name in folder.stamps.items()
        if part(hand_in_of(folder, path, str(name))) == unit
    ]
    known = [time for text in said if (time := as_seconds(text)) is not None]
    return max(known, default=None)


def as_seconds(text: str | None) -> float | None:
    moment = handed_in_at(text)
    return moment.astimezone(UTC).timestamp() if moment else None
