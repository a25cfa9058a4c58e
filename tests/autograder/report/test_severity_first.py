"""The decisive reason comes first: on the console, the class page and the student's page."""

from dataclasses import replace

import pytest

from autograder.codes import CheckStatus, EvidenceLevel, FindingCode, GradeStatus
from autograder.notes import make_note
from autograder.report.class_page import reruns, table
from autograder.report.rendering import notice
from autograder.report.student.said_once import remarks
from autograder.settings.policy import Policy
from autograder.submissions.doubts import note_of
from autograder.verdict import Check, Grade

SYNTHETIC = make_note(FindingCode.SYNTHETIC_DATA)
COPY = make_note(FindingCode.SHARED_RUN, name="ada")
FEWER = make_note(FindingCode.RERUN_FEWER_POINTS)
FORGED = make_note(FindingCode.CHAIN_BROKEN)
UNREAD = make_note(FindingCode.FILE_UNREADABLE)
NOT_MEASURED = make_note(FindingCode.CHECK_NOT_MEASURED, name="a")
BORDERLINE = make_note(FindingCode.CHECK_BORDERLINE, name="a")


def row(student, *look, tier=EvidenceLevel.SELF_CONSISTENT):
    checks = (Check("a", "A", 2.0, 1.0, CheckStatus.PARTIAL, "", ""),)
    return Grade(student, "02", "Title", "full", GradeStatus.GRADED, 1.0, 2.0, tier=tier,
                 findings=look, checks=checks, raw_score=1.0)  # fmt: skip


@pytest.mark.parametrize(
    ("look", "first"),
    [
        ((SYNTHETIC, COPY), FindingCode.SHARED_RUN),
        ((SYNTHETIC, COPY, FORGED), FindingCode.CHAIN_BROKEN),
        ((FORGED, UNREAD), FindingCode.FILE_UNREADABLE),
        ((UNREAD, NOT_MEASURED), FindingCode.FILE_UNREADABLE),  # the cause
        ((FORGED, NOT_MEASURED), FindingCode.CHECK_NOT_MEASURED),
        ((BORDERLINE, SYNTHETIC), FindingCode.SYNTHETIC_DATA),
    ],
)
def test_the_most_severe_reason_is_first(look, first):
    reasons = row("ada", *look).look
    assert reasons[0].code == first
    assert set(reasons) == set(look)


def test_each_file_that_was_not_read_is_a_reason_with_its_name():
    files = ("a.zip", "b.zip", "c.out")
    codes = (FindingCode.ARCHIVE_UNOPENED, FindingCode.ARCHIVE_UNOPENED, FindingCode.FILE_EMPTY)
    notes = [note_of(code, file) for code, file in zip(codes, files, strict=True)]
    reasons = [str(note) for note in row("ada", *notes).look]
    assert [text.rpartition(": ")[2] for text in reasons] == list(files)


def test_the_table_names_the_first_reason_or_the_checks_that_lost_points():
    assert notice(row("ada", SYNTHETIC, COPY)) == f"{COPY} and 1 more"
    assert notice(replace(row("ada", COPY), adjustments=("2 less",))) == f"{COPY}; 2 less"
    assert notice(row("ada")) == "lost points: a"


def test_students_with_the_most_severe_reason_are_the_first_on_the_class_page():
    rows = [row("ada"), row("ben", SYNTHETIC), row("eve", SYNTHETIC, COPY), row("zoe", FORGED)]
    _, lines = table(rows, {}, Policy())
    assert [line.student for line in lines] == ["zoe", "eve", "ben", "ada"]


def test_the_class_page_counts_the_reruns():
    rows = [row("ada", tier=EvidenceLevel.REPRODUCED), row("zoe", FEWER), row("ben", COPY)]
    missing = replace(row("kim"), status=GradeStatus.MISSING)
    assert reruns([*rows, row("eve"), missing]) == (1, 1, 2)
    assert reruns([rows[2], missing]) is None


def test_findings_of_a_student_begin_with_the_most_severe():
    findings = [make_note(FindingCode.ANSWERS_NOT_ASKED), SYNTHETIC, FORGED]
    grades = [
        Grade("ada", lesson, "Title", "full", GradeStatus.GRADED, 1.0, 2.0, findings=found)
        for lesson, found in (("02", tuple(findings)), ("03", tuple(findings[:2])))
    ]
    (first, lessons, _), *others = remarks(grades)
    assert (first.code, lessons) == (FindingCode.CHAIN_BROKEN, ("02",))
    assert [both for _, both, _ in others] == [("02", "03")] * 2


def test_points_that_lateness_changed_are_marked_on_the_class_page():
    _, [line] = table([replace(row("ada"), adjustments=("late: −1 point",))], {}, Policy())
    assert line.cells[0].changed == "late: −1 point"
