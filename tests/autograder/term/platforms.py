"""The downloads of each platform for the ten students, and the instructor's own files."""

import os
import time
from pathlib import Path

from tests.autograder.submissions.downloads import packed, write
from tests.autograder.term.hand_ins import (
    PEOPLE,
    Files,
    answers,
    as_text,
    below,
    from_a_terminal,
    outputs,
    renamed,
    work,
)

# As a German spreadsheet writes it: with semicolons and a byte order mark for UTF-8.
ROSTER = "\ufeffstudent;name;email;login;canvas_id;sis_login;moodle_id;github\r\n" + "".join(
    f"{one};{name};{one}@example.org;u{canvas};{canvas};l{canvas};Participant {moodle};{github}\r\n"
    for one, (name, canvas, moodle, github) in PEOPLE.items()
)
CLASS = """\
profile: smoke
roster: roster.csv
groups: groups.csv
extensions: extensions.csv
late:
  due:
    01: 2026-03-08T23:59+01:00
    02: 2026-03-15T23:59+01:00
    07: 2026-03-22T23:59+01:00
  penalty_a_day: 10%
"""
# The downloads of Moodle and Canvas do not include them.
TIMES = {"ben/01": "2026-03-10T20:00+01:00", "finn/02": "2026-03-17T09:00+01:00"}
EXTENSIONS = "student,lesson,days,reason\nFinn Müller-Groß,2,2,ill\n"
GROUPS = "group,student,lesson\nteam 1,dan,07\nteam 1,Eva Lindqvist,07\n"


def moodle_of_01() -> Files:
    """Return Moodle's folders of lesson 01.

    ivo's network has no biases, kim copied the output from a terminal, zoe named a folder herself,
    and finn's editor hides file extensions.
    """
    found: Files = {}
    for student, (name, _, moodle, _) in PEOPLE.items():
        files = work("01", student, right="no-biases" if student == "ivo" else "right")
        if student == "kim":
            files = from_a_terminal(files)
        if student == "zoe":
            files = below("Lesson 1", files)
        if student == "finn":
            files = renamed(files, "answers.txt", "answers.txt.txt")
        if student == "ada":
            files = {"01_learning.zip": packed(below("01_learning", files))}
        found |= below(f"{name}_{moodle}_assignsubmission_file_", files)
    return found


def canvas_of_02() -> Files:
    """Return Canvas's single folder of lesson 02.

    gil submitted nothing, ben was late, and dan used the wrong folder. hana counted the test images
    in her speed, too.
    """
    found: Files = {}
    for student, (name, canvas, _, _) in PEOPLE.items():
        if student == "gil":
            continue
        files = work("02", student)
        if student == "hana":
            own = answers("02", outputs("02", student))
            too_fast = f"{float(own['keras_throughput']) * 22800 / 12800:.0f}"
            files["answers.txt"] = as_text(own | {"keras_throughput": too_fast})
        sortable = "".join(filter(str.isalpha, "".join(reversed(name.split(maxsplit=1)))))
        late = "_LATE" if student in ("ben", "finn") else ""
        start = f"{sortable.casefold()}{late}_{canvas}"
        if student in ("ada", "dan", "zoe"):
            folder = {"dan": "hw02", "zoe": "Lektion 2"}.get(student, "02_serial")
            files = {"work.zip": packed(below(folder, files))}
        for at, (called, data) in enumerate(files.items()):
            found[f"{start}_{int(canvas) * 100 + at}_{called}"] = data
    return found


def clones_of_07() -> Files:
    """Return GitHub Classroom's repositories; eva works with dan and submitted nothing herself."""
    found: Files = {}
    for student, (_, _, _, github) in PEOPLE.items():
        if student in ("eva", "gil"):
            continue
        files = {**work("07", student), ".git/HEAD": b"ref: refs/heads/main\n"}
        found |= below(f"07-horovod-{github.lower()}", files)
    return found


def moodle_again() -> Files:
    """Return ivo's resubmission with a corrected network, in time for part of the points."""
    name, _, moodle, _ = PEOPLE["ivo"]
    files = outputs("01", "ivo", again=1)
    files["answers.txt"] = as_text(answers("01", files))
    return below(f"{name}_{int(moodle) + 100}_assignsubmission_file_", files)


DOWNLOADS = {  # the platform, the name of the download, and its content
    "01": ("moodle", "HPC-Lab 1-88", moodle_of_01),
    "02": ("canvas", "submissions.zip", canvas_of_02),
    "07": ("github", "07-horovod-submissions", clones_of_07),
    "01 again": ("moodle", "HPC-Lab 1 (second try)-93", moodle_again),
}


def download(home: Path, which: str) -> Path:
    """Write a download with timestamps minutes after the one before, however fast this runs."""
    _, name, files = DOWNLOADS[which]
    place = write(home / "downloads", name, files())
    handed_in = time.time() - 600 * (len(DOWNLOADS) - list(DOWNLOADS).index(which))
    for path in (place, *place.rglob("*")):
        os.utime(path, (handed_in, handed_in))
    return place
