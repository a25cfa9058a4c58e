"""Settings for grading all students of a class, read and checked before grading starts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.codes import GradeStatus
from autograder.evidence.accounting import AccountedJob
from autograder.measuring.interval import Measure
from autograder.settings.answer_hints import Hashes
from autograder.settings.policy import Policy
from autograder.settings.reruns import Rerun
from autograder.settings.roster import Person
from autograder.settings.rubric import Pieces
from autograder.settings.rubric_schema import Profile, Rubric
from autograder.verdict import Grade


@dataclass(frozen=True)
class ClassSettings:
    rubrics: dict[str, Rubric]
    expected: dict[str, dict]
    profile: Profile = "full"
    heading: str = "Grades"  # title of all pages
    released: dict[str, dict[str, Pieces]] = field(default_factory=dict)  # lesson -> program
    solved: dict[str, dict[str, Pieces]] = field(default_factory=dict)  # the solution's gaps
    references: dict[str, dict[str, Measure]] = field(default_factory=dict)  # lesson -> name
    answer_hashes: Hashes = field(default_factory=dict)  # for students, without the answers
    jobs: dict[str, AccountedJob] | None = None  # the scheduler's accounting, by job id
    accounting_required: bool = False  # whether to look at runs outside these jobs
    people: dict[str, Person] = field(default_factory=dict)  # the roster
    term_key: str = ""  # of the questions that each student draws
    policy: Policy = field(default_factory=Policy)
    unowned: tuple[str, ...] = ()  # submissions that wait for an owner, for the class page
    reruns: dict[tuple[str, str], Rerun] = field(default_factory=dict)  # by student and lesson

    @property
    def ids(self) -> set[str]:
        """Return the ids of all lessons' questions."""
        return {name for rubric in self.rubrics.values() for name in rubric.answers}

    def ids_of(self, students: Sequence[str]) -> set[str] | None:
        """Return what these students may type as their id, or None if any id may be theirs."""
        if not self.people:
            return None
        people = [self.people.get(student, Person(student)) for student in students]
        return {own for person in people for own in person.own_ids}

    def login_of(self, student: str) -> str:
        """Return the student's account on the cluster, or an empty text if it is not known."""
        return self.people[student].login if student in self.people else ""

    def without_points(self, student: str, lesson: str, status: GradeStatus) -> Grade:
        """Return a grade without points for a lesson, even if the lesson has no rubric."""
        rubric = self.rubrics.get(lesson)
        title, most = (rubric.title, rubric.points) if rubric else ("", 0.0)
        return Grade(student, lesson, title, self.profile, status, score=None, max_score=most)

    @property
    def titles(self) -> dict[str, dict[str, str]]:
        """Return the titles of checks by lesson."""
        return {lesson: {c.id: c.title for c in r.checks} for lesson, r in self.rubrics.items()}
