"""Grade a student's folder from its files, as `lessons submit` and the start page show it."""

from dataclasses import replace
from functools import cache

from autograder.classroom.self_grade import SelfGrade, Undecided, grade_yourself
from autograder.codes import GradeStatus
from autograder.commands.check_mine import own_settings
from autograder.submissions.answers import answers_of
from autograder.submissions.kinds import kind_of
from autograder.submissions.lesson_files import LessonFiles, join
from autograder.submissions.walk import Found
from lessons.questions import answer_hints
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
    if grade.grade.status != GradeStatus.GRADED:
        return None
    return with_own_checks(grade, lesson, files)


def with_own_checks(grade: SelfGrade, lesson: str, files: LessonFiles) -> SelfGrade:
    """State for each answer whether it looks right, as the notebook's cells do."""
    if grade.rubric is None:
        return grade
    questions = grade.rubric.answers
    given, _ = answers_of(files.answers, questions)

    def checked(left: Undecided) -> Undecided:
        if left.about not in given or not answer_hints.can_judge(lesson, left.about):
            return left
        text = given[left.about].text
        wrong = answer_hints.hint(lesson, left.about, questions[left.about], text)
        return replace(left, looks="wrong" if wrong else "right", hint=wrong)

    return replace(grade, undecided=tuple(map(checked, grade.undecided)))
