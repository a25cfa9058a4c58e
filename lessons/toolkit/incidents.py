"""Draw a student's own incidents for lesson 17, show their recordings, and note the answers."""

from pathlib import Path
from typing import Any

from autograder.settings import rubric
from autograder.settings.draws import drawn, key_of_release
from autograder.settings.rubric_schema import Draw
from lessons.toolkit import answers
from lessons.toolkit.checks.shared.check import CheckFailed

LESSON = "17"
FOLDER = Path("incidents")
EXAMPLE_ID = "my-login"  # in the notebook's first cell


def draw(my_id: object) -> list[str]:
    """Note the id and the incidents that belong to it, and return their names."""
    person = str(my_id).strip()
    solved = any(FOLDER.glob("*/expected.yaml"))  # the instructor's edition
    if not person or (person == EXAMPLE_ID and not solved):
        advice = "Write it into the notebook's first cell, run that cell, then this one."
        raise CheckFailed("your own id", my_id or "nothing", advice)
    asked = rubric.load_rubric(rubric.FOLDER / f"{LESSON}.yaml")
    own = next(check.draw for check in asked.checks if isinstance(check.draw, Draw))
    names = drawn(asked.pools[own.pool].items, person, key_of_release(rubric.FOLDER), own.count)
    answers.note(my_id=person, my_draw=" ".join(names))
    print(f"Your incidents: {', '.join(names)}")
    return names


def show(name: str, first: int = 1, last: int | None = None) -> None:
    """Print the lines of a recording, each with its number."""
    for number, line in enumerate(lines_of(name)[first - 1 : last], first):
        print(f"{number:>4} │ {line}")


def contents(name: str) -> None:
    """Print the parts of a recording, each with the number of its first line."""
    for number, line in enumerate(lines_of(name), 1):
        if line.startswith("====="):
            print(f"{number:>4} │ {line.strip('= ')}")


def part(name: str, word: str, lines: int) -> tuple[int, int]:
    """Return the first and last line to show of the first part whose title has this word."""
    titles = [(n, line) for n, line in enumerate(lines_of(name), 1) if line.startswith("=====")]
    first = next(number for number, title in titles if word in title)
    return first, first + lines


def lines_of(name: str) -> list[str]:
    file = FOLDER / name / "recording.rec"
    if not file.is_file():
        raise FileNotFoundError(f"There is no incident {name}. `draw` names yours.")
    return file.read_text(encoding="utf-8").splitlines()


def note(name: str, *, rank: int, line: int, kind: str, proof: int) -> None:
    """Write the answers about an incident into answers.txt."""
    parts: dict[str, Any] = {"rank": rank, "line": line, "kind": kind, "proof": proof}
    answers.note(**{f"{name}_{part}": value for part, value in parts.items()})
