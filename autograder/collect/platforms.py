r"""List the platforms, and recognise which one a download is from.

Some platforms include the student's name in the name of each entry. For these, a row of PLATFORMS
with the pattern of the names is enough:

Ada Lovelace_4701_assignsubmission_file_/…                       Moodle's Download all submissions
Team 1-Ada Lovelace_4701_assignsubmission_file_work.zip
lovelaceada_LATE_101_2002_train.zip                              Canvas's Download Submissions
ada+02_serial+2026-03-01 20:00:00.123456 UTC+8fK3_aZ-q0Lm/       JupyterHub's exchange
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.collect import gradescope
from autograder.collect.download import Entry, Item, is_clone, is_dir, listed
from autograder.settings.claims import Claim, WhoIs, one_spelling
from autograder.submissions.class_folder import are_lessons, noted_time
from autograder.submissions.kinds import TIMESTAMP, TYPED, WORK, is_package, kind_of, stem
from autograder.submissions.lesson_names import hinted_lesson, lesson_of


@dataclass(frozen=True, slots=True)
class Platform:
    """The functions that recognise and read a platform's download. `items` yields Item objects."""

    looks_like: Callable[[Path, Sequence[Entry]], bool]
    items: Callable[[Path, Sequence[Entry], WhoIs], Iterator[Item]]
    name: re.Pattern[str] | None = None  # of an entry that is a submission
    inner: str = ""  # the folder inside a course that contains the submissions


def by_name(form: str, id_kind: str = "", apart: str = "{name}_{id}", inner: str = "") -> Platform:
    """Return a platform whose entries have names of this form.

    The groups of the form: `name` of the student, `id` (`id_kind` is its column in the roster),
    `late`, `upload`, `called` (the student's own file name), `typed` (a page that the student typed
    into), `lesson`, `time`. `apart` tells students of the same name apart.
    """
    pattern = re.compile(rf"{form}\Z", re.DOTALL)
    no_facts = dict.fromkeys(("id", "late", "upload", "called", "typed", "lesson", "time"), "")

    def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
        return sum(bool(pattern.match(entry.name)) for entry in entries) > len(entries) / 2

    def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
        matches = ((entry, pattern.match(entry.name)) for entry in entries)
        found = [(entry, no_facts | one.groupdict("")) for entry, one in matches if one]
        people = {(one_spelling(facts["name"]), facts["id"]) for _, facts in found}
        count = Counter(name for name, _ in people)
        for entry, facts in found:
            is_unique = count[one_spelling(facts["name"])] == 1
            spelt = facts["name"] if is_unique else apart.format(**facts)
            claim = Claim(spelt)
            if facts["id"]:
                claim = Claim(spelt, facts["name"], ((id_kind, facts["id"]),))
            yield Item(
                Path(entry.path),
                (claim,),
                TYPED if facts["typed"] and not is_dir(entry) else facts["called"],
                facts["lesson"],
                facts["time"],
                late=bool(facts["late"]),
                upload=int(facts["upload"] or 0),
                label="+".join(filter(None, (facts["lesson"], facts["time"]))),
            )

    return Platform(looks_like, items, pattern, inner)


# --- clones of one assignment's repositories ------------------------------------------------------

# As GitHub Classroom and Classroom 50 name the folder: 02-serial-submissions/02-serial-ada-l/ and
# hpc-02-serial_submissions_2026_03_01_T_20_00_00/hpc-02-serial-ada-l/
CLONES = re.compile(
    r"(?P<slug>.+?)(?:-submissions|_submissions_\d{4}_\d\d_\d\d_T_\d\d_\d\d_\d\d)\Z"
)


def are_clones(place: Path, entries: Sequence[Entry]) -> bool:
    return bool(CLONES.match(place.name)) or any(map(is_clone, entries))


def clones(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    """Yield one item per repository.

    If the full text after the slug matches a student in any repository, it must match in all of
    them, so `foo-ada` does not belong to ada. Otherwise, only the end of a repository's name has to
    match a student.
    """
    match = CLONES.match(place.name)
    slug = match["slug"] if match else ""
    lesson = lesson_of(slug) or hinted_lesson(slug.rpartition("-")[2]) or ""
    found: list[tuple[Entry, Claim]] = []
    for entry in filter(is_dir, entries):
        named = slug and entry.name.casefold().startswith(f"{slug.casefold()}-")
        own = entry.name[len(slug) + 1 :] if named else entry.name
        found.append((entry, Claim(own, ids=(("github", own),))))
    whole = any(who(claim).students for _, claim in found)
    for entry, claim in found:
        ends_with = "" if whole else claim.spelt
        yield Item(Path(entry.path), (replace(claim, ends_with=ends_with),), lesson=lesson)


# --- folders within folders -----------------------------------------------------------------------


def lessons_below(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Yield each student's folder with each of its subfolders: submitted/ada/02_serial/."""
    for student in filter(is_dir, entries):
        for lesson in filter(is_dir, listed(Path(student.path))):
            yield student, lesson


def are_nbgraders(place: Path, entries: Sequence[Entry]) -> bool:
    return any(Path(one.path, TIMESTAMP).is_file() for _, one in lessons_below(entries))


def of_nbgrader(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    for student, lesson in lessons_below(entries):
        path, name = Path(lesson.path), lesson.name
        time, _ = noted_time(path / TIMESTAMP)
        yield Item(path, (Claim(student.name),), "", name, time, label=name)


def are_folders(place: Path, entries: Sequence[Entry]) -> bool:
    return any(is_dir(entry) or is_package(entry.name) for entry in entries)


def named_after_students(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    """Yield one item per folder or archive. A clone named `x-ada` may belong to the student ada."""
    for entry in entries:
        if not entry.is_symlink() and (is_dir(entry) or is_package(entry.name)):
            name = name_without_ending(entry)
            yield Item(Path(entry.path), (Claim(name, ends_with=name if is_clone(entry) else ""),))


def name_without_ending(entry: Entry) -> str:
    return entry.name if is_dir(entry) else stem(entry.name)


def are_students(place: Path, entries: Sequence[Entry]) -> bool:
    """Return whether the entries are students' folders or archives rather than lessons."""
    if any(hinted_lesson(name_without_ending(entry)) for entry in entries):
        return False
    packed = [entry for entry in entries if is_package(entry.name) and not is_dir(entry)]
    inside = [listed(Path(entry.path)) for entry in filter(is_dir, entries)]
    having = [one for one in inside if any(kind_of(file.name) in WORK for file in one)]
    lessons = any(hinted_lesson(inner.name) for _, inner in lessons_below(entries))
    return lessons or max(len(packed), len(having)) > 1


def are_of_one_student(entries: Sequence[Entry]) -> bool:
    """Return whether the entries are all lessons of one student or all files of one student."""
    loose = any(kind_of(entry.name) in WORK and not is_dir(entry) for entry in entries)
    return not any(map(is_dir, entries)) if loose else are_lessons(entries)


# --- all platforms --------------------------------------------------------------------------------

FOLDERS = "folders"
PLATFORMS = {
    "moodle": by_name(
        r"(?P<name>.+)_(?P<id>\d{1,12})_assignsubmission_"
        r"(?:(?P<typed>onlinetext)|[a-z]+)_?(?P<called>.*)",
        "moodle_id",
        "{name}_{id}_assignsubmission_",
    ),
    "canvas": by_name(
        r"(?P<name>[^\W\d_][^_]*?)(?P<late>_LATE)?_(?P<id>\d{1,18})_"
        r"(?:(?P<upload>\d{1,18})_(?P<called>.+)|(?:(?P<typed>text)|link)\.html)",
        "canvas_id",
    ),
    "gradescope": Platform(gradescope.looks_like, gradescope.items, gradescope.NAME),
    "github": Platform(are_clones, clones),
    "jupyterhub": by_name(
        r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+"
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? .+?)(?:\+[\w-]{12})?",
        inner="inbound",
    ),
    "nbgrader": Platform(are_nbgraders, of_nbgrader, inner="submitted"),
    FOLDERS: Platform(are_folders, named_after_students),  # last: it accepts every download
}


def looks_like(place: Path) -> str | None:
    """Return the platform that this download seems to be from."""
    for name in PLATFORMS:
        home = below_wrapper(place, name)
        if PLATFORMS[name].looks_like(home, listed(home)):
            return name
    return None


def resemblance(name: str, platform: str) -> str:
    """Return a message for a download that seems to need a different `--from` option."""
    what = "students' folders" if platform == FOLDERS else f"a download of {platform}"
    return f"{name} looks like {what}: use --from {platform}"


def below_wrapper(home: Path, name: str) -> Path:
    """Return the folder with the submissions.

    A zip may have a single folder around everything, and a course's folder may contain the
    exchange.
    """
    platform = PLATFORMS[name]
    is_inside = are_students if name == FOLDERS else platform.looks_like
    for _ in range(3):
        entries = listed(home)
        inner = [Path(entry.path) for entry in entries if entry.name == platform.inner]
        if not inner and len(entries) == 1 and is_dir(entries[0]) and not is_clone(entries[0]):
            [only] = (Path(entry.path) for entry in entries)
            is_submission = platform.name and platform.name.match(only.name)
            inside = listed(only)
            is_course = platform.inner in [entry.name for entry in inside]
            if not is_submission and (is_course or is_inside(only, inside)):
                inner = [only]
        if not inner:
            break
        [home] = inner
    return home
