"""The class page and the students' pages count the same points, missing lessons included."""

import re

from tests.autograder.class_yaml import late_rules
from tests.autograder.make_record import hand_in, write_lines

TOTAL = re.compile(r"([\d.]+) of ([\d.]+) points in (\d+) lesson")


def on_class_page(folder, student):
    row = (folder / "index.html").read_text().split(f"<bdi>{student}</bdi>")[1]
    return re.search(r'data-score="([\d.]+)" data-most="([\d.]+)"', row).groups()


def test_a_lesson_that_cannot_be_graded_counts(tmp_path, grade):
    students = ("ada", "علی\u200cرضا")  # the second has another name in files
    write_lines(tmp_path / "roster.csv", ["student", *students])
    for student in students:
        for lesson in ("01", "02"):
            hand_in(tmp_path / "class" / student / lesson)
        (tmp_path / "class" / student / "00").mkdir()
        (tmp_path / "class" / student / "00/work.zip").write_bytes(b"no archive")
    due = "".join(f'  "{n}": 2099-01-01T12:00+00:00\n' for n in ("00", "01", "02"))
    rules = late_rules(tmp_path, f"due:\n{due}")
    folder = grade(tmp_path / "class", *rules, "--roster", tmp_path / "roster.csv").folder
    ours = [float(cell) for cell in on_class_page(folder, "ada")]
    pages = [*(folder / "students").glob("*.html")]
    assert len(pages) == len(students)
    for page in pages:
        *points, counted = TOTAL.search(page.read_text()).groups()
        assert ([float(each) for each in points], counted) == (ours, "3")
