"""Folders as learning platforms and GitHub hand out what was handed in, told by their names.

Ada Lovelace_4701_assignsubmission_file_/…              Moodle; `…_onlinetext_/onlinetext.html`
lovelaceada_LATE_101_2002_train.zip                     Canvas: all files of all in one folder
submission_9001/… beside submission_metadata.yml        Gradescope's export
ada+02_serial+2026-03-01 20:00:00 UTC+8fK3…/            JupyterHub's exchange folder, `inbound`
02-serial-submissions/02-serial-ada-l/                  GitHub Classroom
hpc-02-serial_submissions_2026_03_01_T_20_00_00/        Classroom 50
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import yaml

from autograder.submissions.claims import Claim, Handed, WhoIs
from autograder.submissions.file_kinds import TYPED, is_answers, is_package
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.regular_files import open_regular

Entry = os.DirEntry[str]

MOODLE = re.compile(
    r"(?P<name>.+)_(?P<id>\d{1,12})_assignsubmission_(?P<kind>[a-z]+)_?(?P<called>.*)\Z", re.DOTALL
)
CANVAS = re.compile(
    r"(?P<name>[^\W\d_][^_]*?)(?P<late>_LATE)?_(?P<id>\d{1,18})_"
    r"(?:\d{1,18}_(?P<called>.+)|(?P<typed>text|link)\.html)\Z",
    re.DOTALL,
)
EXCHANGE = re.compile(
    r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? .+?)"
    r"(?:\+[\w-]{12})?\Z"
)
CLONES = re.compile(
    r"(?P<slug>.+?)(?:-submissions|_submissions_\d{4}_\d\d_\d\d_T_\d\d_\d\d_\d\d)\Z"
)
EXPORT = "submission_metadata.yml"
EXPORTED = re.compile(r"submission_\d{1,18}\Z")
LARGEST_EXPORT = 32 << 20  # bytes of its metadata
LEVELS = 4  # folder, its fields, the list of submitters, the fields of each
DEEPEST = 100  # further levels, of what the autograder of the class said
LONGEST_NAME = 300
TIMESTAMP = yaml.SafeLoader.timestamp_regexp
Data = str | tuple[bool, list["Data"]] | None  # the list is a map's keys and values, if True


def handed_in(place: Path, entries: Sequence[Entry], who: WhoIs) -> list[Handed]:
    """What of a folder's entries a platform has named; the others are anybody's."""
    if any(entry.name == EXPORT for entry in entries):
        return list(of_export(place, entries))
    clones = CLONES.match(place.resolve().name)
    if clones:
        return list(of_clones(clones["slug"], entries, who))
    named = [*of_moodle(entries), *of_exchange(entries)]
    return [*named, *of_canvas([one for one in entries if not of_known(one, named)], who)]


def of_known(entry: Entry, handed: Iterable[Handed]) -> bool:
    return any(one.path == Path(entry.path) for one in handed)


# --- Moodle -----------------------------------------------------------------------------------


def of_moodle(entries: Iterable[Entry]) -> Iterator[Handed]:
    found = [(entry, match) for entry in entries if (match := MOODLE.match(entry.name))]
    numbers = numbers_of((m["name"], m["id"]) for _, m in found)
    for entry, match in found:
        called = match["called"]
        if match["kind"] == "onlinetext" and not entry.is_dir(follow_symlinks=False):
            called = TYPED
        apart = f"{match['name']}_{match['id']}_assignsubmission_"
        claim = Claim(
            match["name"] if len(numbers[match["name"]]) == 1 else apart,
            match["name"],
            (("moodle_id", match["id"]),),
            lasting=False,
        )
        yield Handed(Path(entry.path), (claim,), called)


def numbers_of(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    """By name: two of one name are told apart by their numbers."""
    found: dict[str, set[str]] = {}
    for name, number in pairs:
        found.setdefault(name, set()).add(number)
    return found


# --- Canvas -----------------------------------------------------------------------------------


def of_canvas(entries: Sequence[Entry], who: WhoIs) -> Iterator[Handed]:
    """A job's output may be called alike, so somebody has to be known, or the names be sure."""
    found = [(entry, match) for entry in entries if (match := CANVAS.match(entry.name))]
    claims = {
        entry.name: Claim(match["name"], match["name"], (("canvas_id", match["id"]),))
        for entry, match in found
    }
    known = any(who(claim).students for claim in claims.values())
    if not known and not are_canvas([match for _, match in found], entries):
        return
    numbers = numbers_of((m["name"], m["id"]) for _, m in found)
    for entry, match in found:
        name = match["name"]
        spelt = name if len(numbers[name]) == 1 else f"{name}_{match['id']}"
        claim = Claim(spelt, name, (("canvas_id", match["id"]),))
        called = match["called"] or (TYPED if match["typed"] == "text" else entry.name)
        yield Handed(Path(entry.path), (claim,), called, late=bool(match["late"]))


def are_canvas(found: Sequence[re.Match[str]], entries: Sequence[Entry]) -> bool:
    """Of two students or more, and all called so; or, where an instructor's files lie beside them,
    some are answers or archives, which no job writes under such a name."""
    if len({match["id"] for match in found}) < 2:
        return False
    if len(found) == len(entries):
        return True
    called = [match["called"] or match["typed"] for match in found]
    work = any(one == "text" or is_answers(one) or is_package(one) for one in called)
    return work and not any(is_answers(entry.name) for entry in entries)


# --- Gradescope -------------------------------------------------------------------------------


def of_export(place: Path, entries: Iterable[Entry]) -> Iterator[Handed]:
    told = read_export(place / EXPORT)
    for entry in entries:
        about = told.get(entry.name)
        if about is None and not EXPORTED.match(entry.name):
            continue
        claims, time = about or ((), None)
        yield Handed(Path(entry.path), claims or (Claim(entry.name),), time=time)


def read_export(path: Path) -> dict[str, tuple[tuple[Claim, ...], str | None]]:
    """By folder. What cannot be read tells nothing: the folders are then called as they are."""
    try:
        with open_regular(path) as file:
            told = plain_yaml(file.read(LARGEST_EXPORT))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    found = {}
    for folder, about in pairs(told):
        if not (fields := dict(pairs(about))):
            continue
        submitters = fields.get(":submitters")
        people = submitters[1] if isinstance(submitters, tuple) else []
        claims = tuple(submitter(dict(pairs(one))) for one in people if pairs(one))
        found[folder] = (claims, moment(fields.get(":created_at")))
    return found


def submitter(about: Mapping[str, Data]) -> Claim:
    name, sid, email = (word(about.get(key)) for key in (":name", ":sid", ":email"))
    ids = (("email", email), ("sis_id", sid), ("login", sid), ("sis_login", sid))
    return Claim(email or name or sid or "submission", name, tuple(one for one in ids if one[1]))


def word(value: Data) -> str:
    """A name or number as it is written; nothing, if it is a list or longer than any name."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or value in ("~", "null"):
        return ""
    return value.strip()


def moment(value: Data) -> str | None:
    text = word(value)
    try:
        time = yaml.safe_load(text) if TIMESTAMP.match(text) else None
    except ValueError:  # a 31st of February
        return None
    return time.isoformat(" ") if isinstance(time, datetime) else None


def plain_yaml(data: bytes) -> Data:
    """The upper levels of a YAML file: words, and lists and maps as what they are and what is in
    them. An alias tells nothing, and nothing is built of what lies deeper: a few lines could ask
    for more than any memory, or for more levels than the library's own stack has. Raises
    ValueError or YAMLError."""
    top: list[Data] = []
    open_lists = [top]
    below = 0  # levels that are only counted
    for event in yaml.parse(data, yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            if below or len(open_lists) > LEVELS:
                below += 1
                if below > DEEPEST:  # the library's time grows with the square of the levels
                    raise ValueError("too many levels")
                continue
            inside: list[Data] = []
            open_lists[-1].append((isinstance(event, yaml.MappingStartEvent), inside))
            open_lists.append(inside)
        elif isinstance(event, yaml.CollectionEndEvent):
            if below:
                below -= 1
                if not below:
                    open_lists[-1].append(None)
            else:
                open_lists.pop()
        elif not below and isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            open_lists[-1].append(getattr(event, "value", None))
    return top[0] if top else None


def pairs(value: Data) -> list[tuple[str, Data]]:
    """Of a map; of anything else there are none."""
    if not isinstance(value, tuple) or not value[0]:
        return []
    both = zip(value[1][::2], value[1][1::2], strict=True)
    return [(key, about) for key, about in both if isinstance(key, str)]


# --- JupyterHub's exchange and repositories ---------------------------------------------------


def of_exchange(entries: Iterable[Entry]) -> Iterator[Handed]:
    for entry in entries:
        if match := EXCHANGE.match(entry.name):
            name, lesson, time = match["name"], match["lesson"], match["time"]
            yield Handed(
                Path(entry.path),
                (Claim(name),),
                lesson=lesson_of(lesson) or hinted_lesson(lesson),
                time=time,
                label=f"{lesson}+{time}",
            )


def of_clones(slug: str, entries: Iterable[Entry], who: WhoIs) -> Iterator[Handed]:
    """Clones of one assignment: called after it, or repositories. Other folders and archives in a
    folder that is called so are anybody's, and tables of the tool that cloned are nobody's."""
    lesson = lesson_of(slug) or hinted_lesson(slug.rpartition("-")[2])
    found: list[tuple[Entry, Claim]] = []
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            continue
        start = len(slug) + 1 if entry.name.casefold().startswith(f"{slug.casefold()}-") else 0
        if not start and not os.path.exists(os.path.join(entry.path, ".git")):
            continue
        own = entry.name[start:]
        found.append((entry, Claim(own, ids=(("github", own),))))
    # Where somebody is known by all that follows the slug, everybody is: foo-ada is not ada's.
    whole = any(who(claim).students for _, claim in found)
    for entry, claim in found:
        if not whole:
            claim = replace(claim, ends_with=claim.spelt)
        yield Handed(Path(entry.path), (claim,), lesson=lesson)
