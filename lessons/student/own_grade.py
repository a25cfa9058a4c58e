"""Grade a student's folder from its files, as `lessons submit` and the start page show it."""

from functools import cache

from autograder.classroom.self_grade import SelfGrade, grade_yourself
from autograder.codes import GradeStatus
from autograder.commands.check_mine import own_settings
from autograder.submissions.kinds import kind_of
from autograder.submissions.lesson_files import LessonFiles, join
from autograder.submissions.walk import Found
from lessons.student.bundle import Bundle

settings_here = cache(own_settings)


def own_grade(bundle: Bundle, lesson: str) -> SelfGrade | None:
    """Return the grade that these files determine; None if the lesson cannot be graded."""
    settings = settings_here()
    if lesson not in settings.rubrics:
        return None
    files = LessonFiles(lesson)
    for path in bundle.everything():
        files.add(Found(bundle.folder / path, path, kind_of(path.name)))
    join(files)
    grade = grade_yourself(files, settings, None)
    return grade if grade.grade.status == GradeStatus.GRADED else None
