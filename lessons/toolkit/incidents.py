"""Give a student of lesson 17 incidents of their own, show recordings, and note answers."""

from pathlib import Path
from typing import Any

from autograder.settings import rubric
from autograder.settings.draws import drawn, key_of_release
from autograder.settings.rubric_schema import Draw
from lessons.toolkit import answers

LESSON = "17"
FOLDER = Path("incidents")


def draw(my_id: str) -> list[str]:
    """Note the id, and return the names of the incidents that belong to it."""
    asked = rubric.load_rubric(rubric.FOLDER / f"{LESSON}.yaml")
    own = next(check.draw for check in asked.checks if isinstance(check.draw, Draw))
    names = drawn(asked.pools[own.pool].items, my_id, key_of_release(rubric.FOLDER), own.count)
    answers.note(my_id=my_id)
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
    told: dict[str, Any] = {"rank": rank, "line": line, "kind": kind, "proof": proof}
    answers.note(**{f"{name}_{part}": value for part, value in told.items()})
