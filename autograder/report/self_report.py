"""What a student hears before handing in, on the terminal: decided, missing, and left to others."""

from collections.abc import Iterator, Sequence

from autograder.classroom.self_grade import SelfGrade
from autograder.codes import LEFT_TO_INSTRUCTOR, GradeStatus
from autograder.report.signs import LEGEND, SIGNS, points
from autograder.report.student.said_once import reasons_in
from autograder.safe_text import LONGEST, printable
from autograder.verdict import NOT_MEASURED, Check, Part
from autograder.wording import counted

OPEN = "…"  # the sign of a check that waits for the instructor


def text(grades: Sequence[SelfGrade], chosen: bool, brief: bool = False) -> str:
    """`chosen`: the student named the profile; `brief`: without reasons."""
    empty = [one.grade for one in grades if one.grade.status == GradeStatus.MISSING]
    begun = [one for one in grades if one.grade not in empty or len(grades) == 1]
    lines = [line for one in begun for line in of_lesson(one, chosen, brief)]
    if len(grades) > 1 and empty:
        lines.append(f"Nothing to grade yet in {', '.join(grade.lesson for grade in empty)}")
    if any(one.shown for one in grades):
        lines += ["", f"{LEGEND}  {OPEN} left to your instructor"]
    return "\n".join(printable(line, LONGEST) for line in lines) + "\n"


def of_lesson(one: SelfGrade, chosen: bool, brief: bool) -> Iterator[str]:
    grade = one.grade
    yield f"{grade.lesson} {grade.title}".rstrip()
    if grade.status != GradeStatus.GRADED:
        for finding in grade.findings:
            yield f"  {finding.title}: {finding.found}"
            yield f"    try: {finding.try_}"
        return
    have = sum(check.score for check in one.shown)
    most = sum(check.points for check in one.shown)
    lost = most - have - one.open_points
    parts = [f"{points(round(have, 2))} of {counted(most, 'point')} are there"]
    if lost >= 0.005:
        parts.append(f"{points(round(lost, 2))} are not yet")
    if one.open_points >= 0.005:
        parts.append(f"{points(round(one.open_points, 2))} only your instructor can give")
    yield "  " + ", ".join(parts) + f" (profile {grade.profile})"
    if not chosen and grade.profile == "smoke":
        yield (
            "  Your runs have the size of smoke. If your course asks for full, grade them with "
            "autograder grade --self --profile full"
        )
    reasons = reasons_in(grade)
    for check in one.shown:
        of_it = list(of_check(check, reasons.get(check.id, [])))
        yield from of_it[:1] if brief else of_it
    if brief:
        yield from for_the_instructor(one)
        return
    for finding in grade.findings:
        if not finding.private:
            yield f"  ! {finding.title}: {finding.found}"
            if finding.try_:
                yield f"        try: {finding.try_}"
    if one.missing:
        yield "  Missing: " + "; ".join(one.missing)
    yield from for_the_instructor(one)


def of_check(check: Check, reasons: Sequence[Part]) -> Iterator[str]:
    worth = f"{points(round(check.score, 2))}/{points(check.points)}" if check.points else "info"
    told = [part for part in reasons if not is_open(part)]
    waits = bool(reasons) and not told
    yield f"  {OPEN if waits else SIGNS.get(check.status, '!')} {worth:>9}  {check.title}"
    for part in told:
        if part.found:
            yield f"        found: {part.found}"
        if part.expected:
            yield f"        asked: {part.expected}"
        if part.try_:
            yield f"        try: {part.try_}"


def is_open(part: Part) -> bool:
    return part.status == NOT_MEASURED and part.code in LEFT_TO_INSTRUCTOR


def for_the_instructor(one: SelfGrade) -> Iterator[str]:
    yield "  Only your instructor can say:"
    answered: dict[str, list[str]] = {}
    for left in one.undecided:
        if left.points and left.hint:
            answered.setdefault(left.hint, []).append(left.about)
    silent = [left.about for left in one.undecided if left.points and not left.hint]
    if silent:
        yield f"    whether these are right: {', '.join(silent)}"
    for hint, names in answered.items():
        are, them = ("are", "them") if len(names) > 1 else ("is", "it")
        again = f"To look at {them} again yourself: {hint}"
        yield f"    whether {', '.join(names)} {are} right. {again}"
    for left in one.undecided:
        if not left.points:
            yield f"    {left.about}"
    yield (
        f"    how far the outputs can be believed, with the scheduler's accounting; by themselves "
        f"they are {one.grade.tier}"
    )
