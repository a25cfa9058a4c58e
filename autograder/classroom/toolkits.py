"""Find students whose toolkit nobody else has: another version of the course, or a changed one."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from autograder.classroom.rows import Row
from autograder.codes import FindingCode
from autograder.text_hash import folder_hash
from autograder.verdict import LookReason

FEWEST = 5  # students with the same toolkit; with fewer, it is unknown what is usual
TOOLKIT = Path(__file__).parents[2] / "lessons" / "toolkit"  # may not exist


REASON = LookReason(
    FindingCode.OTHER_TOOLKIT,
    "ran with a toolkit that nobody else has: another version of the course, or a changed one",
)


def lonely_toolkits(rows: Sequence[Row]) -> dict[tuple[str, str], LookReason]:
    """Return the reason to look by student and lesson.

    The version beside the grader, and versions that two students have, are no reason.
    """
    users: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for toolkit in row.toolkits:
            users[toolkit].add(row.student)
    if max(map(len, users.values()), default=0) < FEWEST:
        return {}
    alone = {toolkit for toolkit, students in users.items() if len(students) == 1}
    alone -= {folder_hash(TOOLKIT)} if alone else set()
    return {(row.student, row.lesson): REASON for row in rows if alone.intersection(row.toolkits)}
