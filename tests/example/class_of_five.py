"""A class of five students to look at; `make example` writes and grades it.

    python -m tests.example.class_of_five FOLDER

The outputs are saved outputs of real runs, changed so that each is its student's own run. Some come
from programs with a planted mistake. Nothing here needs a framework.
"""

import sys
from pathlib import Path

from tests.autograder.term.hand_ins import (
    PEOPLE,
    Files,
    answers,
    as_text,
    from_a_terminal,
    outputs,
    work,
)

FOLDERS = {"01": "01_learning", "02": "02_serial", "07": "07_horovod"}
STUDENTS = ("ada", "dan", "eva", "hana", "zoe")


def submissions() -> dict[tuple[str, str], Files]:
    """Return the files of each (student, lesson)."""
    found = {(student, lesson): work(lesson, student) for student in STUDENTS for lesson in FOLDERS}
    found["dan", "02"] = wrong_throughput("dan")
    found["dan", "07"] = work("07", "dan", right="every-rank-saves")
    found["eva", "01"] = work("01", "eva", right="no-biases")
    found["eva", "02"].pop("answers.txt")
    del found["eva", "07"]
    found["hana", "07"] = work("07", "hana", right="no-broadcast")
    found["zoe", "01"] = from_a_terminal(work("01", "zoe"))
    found["zoe", "02"] = work("02", "ada")  # ada's runs, submitted by two students
    return found


def wrong_throughput(student: str) -> Files:
    """Return lesson 02 of a student who counted the test images too."""
    files = outputs("02", student)
    right = answers("02", files)
    wrong = right | {"keras_throughput": f"{float(right['keras_throughput']) * 7 / 6:.0f}"}
    return {**files, "answers.txt": as_text(wrong)}


def write_class(folder: Path) -> None:
    """Write FOLDER/class/<student>/<lesson>/ and the roster."""
    for (student, lesson), files in submissions().items():
        place = folder / "class" / student / FOLDERS[lesson]
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
    rows = [f"{student},{PEOPLE[student][0]}" for student in STUDENTS]
    (folder / "roster.csv").write_text("\n".join(["student,name", *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    write_class(Path(sys.argv[1]))
