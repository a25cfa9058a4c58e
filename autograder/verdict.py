"""The results of grading: frozen records that the reports show, and that can become JSON."""

from dataclasses import dataclass, field

from autograder.codes import (
    CheckStatus,
    EvidenceLevel,
    FindingCode,
    GradeStatus,
    Outcome,
    ReasonCode,
)
from autograder.notes import Note, Where, make_note
from autograder.safe_text import file_name

WORST_FIRST = (FAILED, NOT_MEASURED, WAITS, PARTIAL, BORDERLINE, PASSED) = tuple(CheckStatus)
GRADER_ERROR = GradeStatus.GRADER_ERROR

TIERS = tuple(EvidenceLevel)  # worst first
NO_LESSON = "–"  # the lesson of a student who submitted nothing
UNKNOWN_LESSON = "?"  # the lesson of work whose lesson is unknown
NO_LESSONS = (NO_LESSON, UNKNOWN_LESSON)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a check: one answer, or one condition on one run."""

    name: str
    status: CheckStatus
    credit: float  # fraction of the full points, 0 to 1
    expected: str
    actual: str
    where: tuple[Where, ...] = ()
    advice: str = ""
    code: ReasonCode = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the rubric, judged."""

    id: str
    title: str
    points: float
    score: float
    status: CheckStatus
    expected: str
    actual: str
    where: tuple[Where, ...] = ()
    advice: str = ""
    parts: tuple[Part, ...] = ()
    told: str = ""  # what was measured, in words that can replace the title
    by_hand: str = ""  # why the instructor set its points, which a new submission does not change

    @property
    def decided(self) -> bool:
        """Return whether it no longer waits, as the whole lesson's points were given by hand."""
        return self.status == WAITS and bool(self.by_hand)


UNSURE = {
    BORDERLINE: FindingCode.CHECK_BORDERLINE,
    NOT_MEASURED: FindingCode.CHECK_NOT_MEASURED,
    WAITS: FindingCode.CHECK_WAITS,
}


@dataclass(frozen=True, slots=True)
class Repeated:
    """A check's points in the submission and in the instructor's rerun; None: not compared."""

    check: str
    points: float
    submitted: float
    rerun: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """A measured value with its interval, for pictures and tables."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """The seconds and ratios of a speed job, for pictures."""

    seconds: tuple[tuple[float, float, float], ...]  # alone, silent, together, for each round
    speedup: Point
    ceiling: Point
    share: Point


@dataclass(frozen=True, slots=True)
class RunTraits:
    """Traits that distinguish a run from all others, most of them hashes. Empty means unknown."""

    marks: tuple[str, ...] = ()  # each of them is equal only in copies
    job: str = ""  # its job number, after the name of its site
    losses: str = ""  # hash of its epochs' losses
    settings: str = ""  # hash of the facts that must be equal for losses to be equal
    parameters: str = ""  # hash of the parameters after training
    result: float | None = None  # test accuracy with these parameters


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The facts about a run that appear in reports."""

    name: str  # its name in the rubric, otherwise its format
    program: str  # program and model; a speedup curve is drawn for each
    outcome: Outcome
    counted: bool  # whether it is the run of its name that counts
    files: tuple[str, ...]
    job_id: str | None
    workers: int | None
    device: str
    synthetic: bool
    epoch_seconds: tuple[float | None, ...]
    epoch_s: Point | None
    throughput: Point | None
    test_accuracy: float | None
    toolkit: str = ""  # hash of the course's toolkit that it used
    traits: RunTraits = RunTraits()
    where: Where | None = None  # its first line
    speedup: Point | None = None  # over the same program's run on the fewest workers
    problems: tuple[Note, ...] = ()
    rounds: Rounds | None = None
    compared: bool = False  # whether a check judges it together with other runs


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of a program that differs from the released one, or is in a gap."""

    kind: str  # -: released and missing; +: new outside the gaps; gap: in a gap; own program: own
    number: int  # in the student's file; for a missing line, where it would be
    text: str
    marks: str = ""  # what the solution does not need here: a clock, a thread, …


@dataclass(frozen=True, slots=True)
class FilledGap:
    """A gap of a program as a student filled it, and as the solution does."""

    lines: tuple[ChangedLine, ...]
    solution: tuple[str, ...]  # empty if it is not known


@dataclass(frozen=True, slots=True)
class ProgramText:
    """Notes for an instructor on one submitted program."""

    file: str
    said: str
    lines: tuple[ChangedLine, ...] = ()
    left_out: int = 0  # number of lines that are not shown
    gaps: tuple[FilledGap, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of one student for one lesson, which is written as JSON and read back unchanged."""

    student: str
    lesson: str
    title: str
    profile: str
    status: GradeStatus
    score: float | None
    max_score: float
    waiting: float = 0.0  # points that the instructor has yet to give; max_score is without them
    tier: EvidenceLevel = EvidenceLevel.UNVERIFIED
    tier_reason: str = ""
    checks: tuple[Check, ...] = ()
    rerun: tuple[Repeated, ...] = ()
    findings: tuple[Note, ...] = ()
    runs: tuple[RunSummary, ...] = ()
    programs: tuple[ProgramText, ...] = ()  # for the instructor: what the student changed in them
    handed_in: str | None = None
    files: str = ""  # a hash of the submitted files that are read
    raw_score: float | None = None  # as measured, before any adjustment
    late_points: float = 0.0  # points lost for late days
    unrounded: float | None = None  # the score before rounding, if that changed it
    adjustments: tuple[str, ...] = ()  # late days, extensions, overrides, in the order applied
    unused_overrides: tuple[str, ...] = ()  # of checks that were not judged, for the instructor
    seen: tuple[str, ...] = ()  # reasons to look that the instructor has settled
    by_hand: str = ""  # why the instructor set the whole lesson's points
    untimed: bool = False  # whether the lesson is due but its submission time is unknown
    partners: tuple[str, ...] = ()  # students who may have submitted the same work

    @property
    def key(self) -> tuple[str, str]:
        return self.student, self.lesson

    @property
    def page(self) -> str:
        """Return the file name of the student's page."""
        return f"{file_name(self.student)}.html"

    @property
    def look(self) -> list[Note]:
        """Return why an instructor should still look at the grade, the most severe reason first.

        A check is a reason until its points, or those of the whole lesson, are given by hand.
        """
        unsure = (
            make_note(UNSURE[check.status], name=check.id)
            for check in self.checks
            if check.status in UNSURE and not (check.by_hand or self.by_hand)
        )
        notes = {str(note): note for note in (*self.findings, *unsure) if note.look}
        cells = [f"; {cell}; " for cell in self.seen]  # of grades.csv, with one reason or several
        left = [n for text, n in notes.items() if not any(f"; {text}; " in cell for cell in cells)]
        return sorted(left, key=lambda note: note.code.rank)

    @property
    def level(self) -> str:
        """Return the evidence level; empty for a lesson that was not graded by its runs."""
        return self.tier if self.status == GradeStatus.GRADED and self.checks else ""

    @property
    def for_instructor(self) -> tuple[str, ...]:
        """Return the adjustments, and the overrides that changed nothing."""
        return (*self.adjustments, *self.unused_overrides)

    @property
    def worth(self) -> float:
        """Return the points of the lesson, with those that wait for the instructor."""
        return self.max_score + self.waiting

    @property
    def final_score(self) -> float | None:
        """Return the score for other systems: None while points wait for the instructor."""
        return None if self.waiting else self.score

    @property
    def small_runs(self) -> int:
        """Return how many of the runs that count are smaller than the profile requires."""
        small = {note.where for note in self.findings if note.code == FindingCode.RUN_TOO_SMALL}
        return len(small)
