r"""List the platforms: how each names a submission in its download, and its tables of submissions.

Ada Lovelace_4701_assignsubmission_file_/…                       Moodle's Download all submissions
Team 1-Ada Lovelace_4701_assignsubmission_file_work.zip
lovelaceada_LATE_101_2002_train.zip                              Canvas's Download Submissions
submission_9001/… beside submission_metadata.yml                 Gradescope's Export Submissions
02-serial-submissions/02-serial-ada-l/                           clones from GitHub or GitLab
hpc-02_submissions_2026_03_01_T_20_00_00/hpc-02-ada-l/           Classroom 50
ada+02_serial+2026-03-01 20:00:00.123456 UTC+8fK3_aZ-q0Lm/       JupyterHub's exchange
submitted/ada/02_serial/                                         nbgrader
02_serial-81c04fe2a77d/                                          the drop folder (drop.py)
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import yaml

from autograder.collect.download import METADATA, About, Item
from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.roster import Claim, same
from autograder.strict_csv import read_csv
from autograder.submissions.class_folder import listed
from autograder.submissions.kinds import TYPED, is_clutter, is_package, stem

# --- Moodle's grading worksheets, for --worksheet -------------------------------------------------

PARTICIPANT = re.compile(r"\D*(\d+)\Z")
ADDRESS = re.compile(r"\S+@\S+\.\S+\Z")
# In English and German: *Last modified (submission)*, `Monday, 2 March 2026, 8:14 PM`.
SUBMISSION = re.compile(r"\((?:submission|abgabe)\)", re.IGNORECASE)
TIME = re.compile(
    r"(?P<day>\d{1,2})\.? (?P<month>[^\W\d_]{3})[^\W\d_]* (?P<year>\d{4})\D+"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)\s*(?P<half>[ap]m)?",
    re.IGNORECASE,
)
MONTHS = "jan feb mar|mär apr may|mai jun jul aug sep oct|okt nov dec|dez"
MONTH = {name: at for at, names in enumerate(MONTHS.split(), 1) for name in names.split("|")}


def read_worksheets(paths: Iterable[Path], zone: tzinfo | None) -> dict[str, About]:
    """Return the participants by their number in the assignment."""
    participants: dict[str, About] = {}
    for path in paths:
        for _, row in read_csv(path, ()):
            first, *cells = row.values()
            number = PARTICIPANT.match(first)
            if not number or not cells:
                raise SettingsError(
                    f"{path} is not a grading worksheet of Moodle's. Its first column should have "
                    "entries like `Participant 4701`"
                )
            email = next(filter(ADDRESS.match, cells), "")
            time = next((cell for name, cell in row.items() if SUBMISSION.search(name)), "")
            claim = Claim(cells[0], (("email", email), ("name", cells[0])))
            participants[number[1]] = About((claim,), time_of(time, zone) or time.strip(" -"))
    return participants


def time_of(text: str, zone: tzinfo | None) -> str:
    """Return a time of the worksheet in ISO form, or "" if it is unclear."""
    match = TIME.search(text)
    month = MONTH.get(match["month"].casefold()) if match else None
    if not (match and month):
        return ""
    year, day, hour, minute = (int(match[part]) for part in ("year", "day", "hour", "minute"))
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].casefold() == "pm")
    try:
        moment = datetime(year, month, day, hour, minute, tzinfo=zone)
    except ValueError:
        return ""
    return (moment if zone else moment.astimezone()).isoformat()


# --- Gradescope's submission_metadata.yml ---------------------------------------------------------

TEXTS = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every value stays a text


def gradescope(place: Path) -> dict[str, About]:
    """Return the students and the time of each submission, by its folder."""
    try:
        submissions = yaml.load((place / METADATA).read_bytes(), TEXTS)
        return {name: about(name, facts) for name, facts in submissions.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        raise SettingsError(f"{place / METADATA} is not the metadata of Gradescope's") from None


def about(name: str, facts: Mapping[str, Any]) -> About:
    claims = tuple(map(claim, facts[":submitters"])) or (Claim(name),)
    return About(claims, str(facts.get(":created_at", "")).replace(" Z", "+00:00"))


def claim(person: Mapping[str, Any]) -> Claim:
    email, name, sid = (str(person.get(f":{key}") or "") for key in ("email", "name", "sid"))
    ids = [("email", email), *((kind, sid) for kind in ("sis_id", "login", "sis_login"))]
    return Claim(email or name or sid, (*(pair for pair in ids if pair[1]), ("name", name)))


# --- the names of submissions ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Platform:
    """The form of a platform's names of submissions.

    `form` matches the last parts of a submission's path. It has the groups `name` and `id` (of the
    student; `column` is the id's in the roster), `late`, `lesson` and `time`. `called` is
    the student's own file name, and `typed` a page that the student typed into.
    """

    form: str
    column: str = ""
    depth: int = 1  # of the submissions in the download
    inner: str = ""  # the folder of a course that contains the submissions
    teams: bool = False  # whether a team and a dash may precede the name
    stamped: bool = False  # whether timestamp.txt has the time of submission
    metadata: Callable[[Path], Mapping[str, About]] = lambda place: {}

    def matches(self, place: Path) -> list[tuple[Path, dict[str, str]]]:
        """Return the submissions in a folder, with the groups of their names."""
        parts = self.form.count("/") + 1
        takes_files = "(?P<called>" in self.form
        submissions = []
        for path in sorted(place.glob("/".join(["*"] * self.depth))):
            is_file = not path.is_dir()
            if path.is_symlink() or is_clutter(path.name):
                continue
            if is_file and not (takes_files or is_package(path.name)):
                continue
            last = stem(path.name) if is_file and not takes_files else path.name
            match = re.fullmatch(self.form, "/".join([*path.parts[-parts:-1], last]), re.DOTALL)
            if match:
                submissions.append((path, NO_FACTS | match.groupdict("")))
        return submissions

    def items(self, place: Path, participants: Mapping[str, About]) -> Iterator[Item]:
        """Yield the submissions. `participants` maps numbers to the rows of a worksheet."""
        about = self.metadata(place)
        submissions = self.matches(place)
        names = {(same(facts["name"]), facts["id"]) for _, facts in submissions}
        if submissions and participants and not participants.keys() & {id for _, id in names}:
            raise SettingsError(
                f"{shortened(place.name)}: the worksheet has none of these submissions: download "
                "the worksheet of the same assignment"
            )
        count = Counter(name for name, _ in names)
        for path, facts in submissions:
            who = about.get(path.name, About((self.claim(facts, count),), facts["time"]))
            if known := participants.get(facts["id"]):
                ids = (*known.claims[0].ids, *who.claims[0].ids)
                who = About((replace(who.claims[0], ids=ids),), known.time)
            yield Item(
                path,
                who.claims,
                TYPED if facts["typed"] and path.is_file() else facts["called"],
                facts["lesson"],
                who.time,
                late=bool(facts["late"]),
                label="+".join(filter(None, (facts["lesson"], facts["time"]))),
            )

    def claim(self, facts: Mapping[str, str], count: Mapping[str, int]) -> Claim:
        """Return who submitted something. `count` has the number of ids for each name."""
        name, number = facts["name"], facts["id"]
        ids = ((self.column, number),) if self.column and number else ()
        if count[same(name)] > 1:  # only their numbers distinguish them
            return Claim(f"{name} {number}", ids)
        dashes = re.finditer("-", name) if self.teams else ()
        return Claim(name, (*ids, *(("name", name[dash.end() :]) for dash in dashes)))


NO_FACTS = dict.fromkeys(("id", "late", "called", "typed", "lesson", "time"), "")
FOLDERS, DROP = "folders", "drop"
PLATFORMS = {
    "moodle": Platform(
        r"(?P<name>.+)_(?P<id>\d{1,12})_assignsubmission_"
        r"(?:(?P<typed>onlinetext)|[a-z]+)_?(?P<called>.*)",
        teams=True,
    ),
    "canvas": Platform(
        r"(?P<name>[^\W\d_][^_]*?)(?P<late>_LATE)?_(?P<id>\d{1,18})_"
        r"(?:\d{1,18}_(?P<called>.+)|(?:(?P<typed>text)|link)\.html)",
        "canvas_id",
    ),
    "gradescope": Platform(r"(?P<name>submission_\d{1,18})", metadata=gradescope),
    "github": Platform(
        r"(?P<lesson>.+?)(?:-submissions|_submissions_[\d_T]+)/(?P=lesson)-(?P<name>.+)"
    ),
    "jupyterhub": Platform(
        r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+"
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? .+?)(?:\+[\w-]{12})?",
        inner="inbound",
    ),
    "nbgrader": Platform(r"(?P<name>.+)/(?P<lesson>.+)", depth=2, inner="submitted", stamped=True),
    FOLDERS: Platform(r"(?P<name>.+)", stamped=True),
    DROP: Platform(r"(?!)"),  # its names mean nothing
}


def below_wrapper(place: Path, platform: Platform) -> Path:
    """Return the folder with the submissions, which may be nested in a zip or a course."""
    any_name = platform is PLATFORMS[FOLDERS]
    for _ in range(1 if any_name else 3):
        inner, entries = place / platform.inner, listed(place)
        if platform.inner and inner.is_dir():
            place = inner
        elif len(entries) == 1 and entries[0].is_dir():
            place = Path(entries[0].path) if any_name or not platform.matches(place) else place
    return place
