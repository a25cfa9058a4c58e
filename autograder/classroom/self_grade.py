"""Grade a student's own work before it is submitted.

The expected answers, the site's calibration and the accounting are not used, because only the
instructor has them; hashes say whether an answer looks right. Therefore, the result is the same in
every edition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.grading import grade_files
from autograder.codes import LEFT_TO_INSTRUCTOR, GradeStatus, ReasonCode
from autograder.safe_text import printable_record
from autograder.settings import draws
from autograder.settings.answer_hints import hint
from autograder.settings.rubric_schema import Profile, Rubric, RubricCheck
from autograder.submissions.answers import answers_of
from autograder.submissions.kinds import folder_lesson
from autograder.submissions.lesson_files import LessonFiles, read_places
from autograder.verdict import FAILED, WAITS, Check, Grade

YOU = "you"


@dataclass(frozen=True, slots=True)
class Undecided:
    """A share of a check's points that the outputs alone cannot decide, or a doubt about them."""

    about: str
    points: float
    hint: str = ""  # for an answer that was given
    looks: Literal["", "right", "wrong"] = ""  # judged without the expected answer, if possible
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class SelfGrade:
    grade: Grade
    rubric: Rubric | None
    undecided: tuple[Undecided, ...] = ()

    @property
    def open_points(self) -> float:
        return sum(part.points for part in self.undecided if part.looks != "wrong")

    @property
    def complete(self) -> bool:
        """Return whether the outputs show no lost points: all are earned or still undecided."""
        lost = sum(check.points - check.score for check in self.grade.checks) - self.open_points
        return self.grade.status == GradeStatus.GRADED and lost < 0.005


def own_files(
    places: Sequence[Path], lesson: str | None, settings: ClassSettings
) -> list[LessonFiles]:
    """Return the files of a lesson's folder, or of all lessons below a folder.

    Archives are ignored, because in a student's own folder they are old packages.
    """

    def lesson_of(place: Path) -> str | None:
        return lesson or folder_lesson(place.resolve().name, settings.rubrics)

    def below(place: Path) -> list[Path]:
        inside = sorted(place.iterdir()) if place.is_dir() else []
        return [path for path in inside if path.is_dir() and lesson_of(path)]

    folders: list[Path] = []
    for place in places:
        inside = [] if lesson_of(place) else below(place) or below(place / "lessons")
        folders += inside or [place]
    return [read_places(lesson_of(path), [path], archives=False) for path in folders]


def grade_yourself(
    files: LessonFiles, settings: ClassSettings, profile: Profile | None
) -> SelfGrade:
    """Grade the files. If `profile` is None, use the profile that fits the size of the runs."""
    settings = replace(settings, expected={}, jobs=None, reruns={})
    full, smoke = (graded(files, settings, each) for each in ("full", "smoke"))
    rubric = settings.rubrics.get(full.lesson)
    if rubric is None:
        return SelfGrade(full, None)
    given, _ = answers_of(files.answers, rubric.answers)
    texts = {key: answer.text for key, answer in given.items()}
    rubric = draws.for_person(rubric, texts, None, settings.term_key)
    if profile is None:
        profile = "smoke" if is_small(full, smoke, rubric) else "full"
    grade = smoke if profile == "smoke" else full
    grade = replace(grade, checks=tuple(map(without_numbers, grade.checks)))
    asked, own = {check.id: check for check in rubric.checks}, SelfGrade(grade, rubric)
    undecided = (left_open(c, asked[c.id], rubric, profile) for c in grade.checks)

    def checked(left: Undecided) -> Undecided:
        if left.about not in texts:
            return left
        asked, text = rubric.answers[left.about], texts[left.about]
        wrong = hint(rubric.lesson, left.about, asked, text, settings.answer_hashes)
        if wrong is None:
            return left
        return replace(left, looks="wrong" if wrong else "right", hint=wrong)

    return replace(own, undecided=tuple(map(checked, chain.from_iterable(undecided))))


def graded(files: LessonFiles, settings: ClassSettings, profile: Profile) -> Grade:
    fresh = replace(files, findings=list(files.findings))
    return printable_record(grade_files(fresh, replace(settings, profile=profile), (YOU,)))


def is_small(full: Grade, smoke: Grade, rubric: Rubric) -> bool:
    """Return whether most of the runs that count are smaller than profile `full` requires.

    If the lesson has no required size, return whether these runs earn more with smoke.
    """
    count = sum(run.counted for run in full.runs)
    if count and rubric.train_samples is None:
        return reached(smoke) > reached(full)
    return 2 * full.small_runs >= count  # before the first run, too: notebooks begin with smoke


def reached(grade: Grade) -> tuple[float, float]:
    """Return the points and, to break ties, the summed credit of all parts of the checks."""
    return grade.score or 0.0, sum(part.credit for check in grade.checks for part in check.parts)


def without_numbers(check: Check) -> Check:
    """Hide recorded numbers that answer a question, because students must find them themselves."""
    parts = tuple(
        replace(part, expected=f"{part.name}: what your own record says")
        if part.status == FAILED and part.code == ReasonCode.OWN_RECORD
        else part
        for part in check.parts
    )
    if parts == check.parts:
        return check
    return replace(check, parts=parts, expected="; ".join(part.expected for part in parts))


def left_open(
    check: Check, asked: RubricCheck, rubric: Rubric, profile: Profile
) -> Iterator[Undecided]:
    """Yield the parts of a check that only the instructor, with answers or calibration, decides."""
    if check.status == WAITS:
        yield Undecided(f"{check.title}: graded by hand", check.points, by_hand=True)
    for part in check.parts if asked.answers else ():
        if part.code == ReasonCode.EXPECTED_KEPT:
            share = check.points / len(check.parts)
            yield Undecided(part.name, share, rubric.answers[part.name].try_)
    conditions = asked.conditions(profile)
    if any(condition.threshold.of_reference is not None for condition in conditions):
        lost = [part.code for part in check.parts if part.credit < 1]
        alone = bool(lost) and LEFT_TO_INSTRUCTOR.issuperset(lost)  # nothing else decides it
        about = f"{check.title}: compared with what the solution reaches on your site"
        yield Undecided(about, check.points if alone else 0.0)
