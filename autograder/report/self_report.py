"""Report to a student before submission: what is decided, missing or up to the instructor."""

from collections.abc import Iterator, Sequence

from autograder.classroom.self_grade import SelfGrade, Undecided
from autograder.codes import LEFT_TO_INSTRUCTOR, GradeStatus
from autograder.report.signs import LEGEND, SIGNS, check_line, points
from autograder.report.student.said_once import reasons_in
from autograder.safe_text import LONGEST, printable
from autograder.verdict import NOT_MEASURED, Check, Part
from autograder.wording import counted, sentence

OPEN = "…"  # the sign of a check that waits for the instructor


def text(grades: Sequence[SelfGrade], chosen: bool, brief: bool = False) -> str:
    """Return the report.

    `chosen`: whether the student named the profile. `brief`: omit the reasons.
    """
    empty = [grade.grade for grade in grades if grade.grade.status == GradeStatus.MISSING]
    begun = [grade for grade in grades if grade.grade not in empty or len(grades) == 1]
    lines = [line for grade in begun for line in lesson_lines(grade, chosen, brief)]
    if len(grades) > 1 and empty:
        lines.append(f"Nothing to grade yet in {', '.join(grade.lesson for grade in empty)}")
    if any(grade.shown for grade in grades):
        lines += ["", f"{LEGEND}  {OPEN} left to your instructor"]
    return "\n".join(printable(line, LONGEST) for line in lines) + "\n"


def lesson_lines(self_grade: SelfGrade, chosen: bool, brief: bool) -> Iterator[str]:
    grade = self_grade.grade
    yield f"{grade.lesson} {grade.title}".rstrip()
    if grade.status != GradeStatus.GRADED:
        for finding in grade.findings:
            yield f"  {finding.title}: {finding.found}"
            yield f"    try: {sentence(finding.try_)}"
        return
    have = sum(check.score for check in self_grade.shown)
    most = sum(check.points for check in self_grade.shown)
    lost = most - have - self_grade.open_points
    parts = [f"{points(round(have, 2))} of {counted(most, 'point')} earned"]
    if lost >= 0.005:
        parts.append(f"{points(round(lost, 2))} not yet")
    if self_grade.open_points >= 0.005:
        parts.append(f"{points(round(self_grade.open_points, 2))} only your instructor can give")
    yield "  " + ", ".join(parts) + f" (profile {grade.profile})"
    if not chosen and grade.profile == "smoke":
        yield (
            "  Your runs have the size of smoke. If your course asks for full, grade them with "
            "autograder check-mine --profile full"
        )
    reasons = reasons_in(grade)
    for check in self_grade.shown:
        lines = list(check_lines(check, reasons.get(check.id, [])))
        yield from lines[:1] if brief else lines
    for finding in grade.findings if not brief else ():
        if not finding.private:
            yield f"  ! {finding.title}: {finding.found}"
            if finding.try_:
                yield f"        try: {sentence(finding.try_)}"
    if self_grade.missing and not brief:
        yield "  Missing: " + "; ".join(self_grade.missing)
    yield from for_the_instructor(self_grade)


def check_lines(check: Check, reasons: Sequence[Part]) -> Iterator[str]:
    decided = [
        part
        for part in reasons
        if part.status != NOT_MEASURED or part.code not in LEFT_TO_INSTRUCTOR
    ]
    waits = bool(reasons) and not decided
    sign = OPEN if waits else SIGNS.get(check.status, "!")
    yield check_line(sign, check.score, check.points, check.title)
    for part in decided:
        if part.found:
            yield f"        found: {part.found}"
        if part.expected:
            yield f"        asked: {part.expected}"
        if part.try_:
            yield f"        try: {sentence(part.try_)}"


def has_reasons(self_grade: SelfGrade) -> bool:
    """Return whether the full report has lines that the brief one omits."""
    full, short = (text([self_grade], chosen=True, brief=brief) for brief in (False, True))
    return full != short


def for_the_instructor(self_grade: SelfGrade) -> Iterator[str]:
    by_looks: dict[str, list[Undecided]] = {"right": [], "wrong": [], "": []}
    for left in self_grade.undecided:
        by_looks[left.looks].append(left)
    if right := [left.about for left in by_looks["right"]]:
        yield f"  Your instructor gives the points, but these look right: {', '.join(right)}"
    if by_looks["wrong"]:
        yield "  These answers are wrong:"
    for left in by_looks["wrong"]:
        yield f"    {left.about}: {left.hint}"
    yield "  Only your instructor can say:"
    by_hint: dict[str, list[str]] = {"": []}
    for left in by_looks[""]:
        if left.points:
            by_hint.setdefault(left.hint, []).append(left.about)
    if silent := by_hint.pop(""):
        yield f"    whether these are right: {', '.join(silent)}"
    for hint, names in by_hint.items():
        are, them = ("are", "them") if len(names) > 1 else ("is", "it")
        again = f"To check {them} again yourself: {hint}"
        yield f"    whether {', '.join(names)} {are} right. {again}"
    for left in self_grade.undecided:
        if not left.points:
            yield f"    {left.about}"
    yield (
        f"    how far the outputs can be trusted, given the scheduler's accounting (on their own "
        f"they are {self_grade.grade.tier}); there is nothing for you to do"
    )
