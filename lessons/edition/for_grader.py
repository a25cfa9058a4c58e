"""Make the files that `lessons build` writes for the grader and for hints.

The grader imports no lesson. A file beside each rubric contains the text of the programs outside
their gaps. A file beside the expected answers contains the solutions of the gaps. For hints, a file
contains the hashes of the right answers.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from autograder.settings import rubric
from autograder.settings.answer_hints import HASHES, hashes_of
from autograder.settings.draws import about_items
from lessons.edition.gaps import find_gaps
from lessons.folders import choose_lessons, made_by_hand

RUBRICS = Path("autograder") / "rubrics"
EXPECTED = "expected.yaml"  # the answers about an item of a pool; students do not get it


def answer_hashes(root: Path) -> dict[Path, bytes]:
    """Return the file of hashes of all numbers that a rubric expects as answers.

    The result is empty if there are no expected answers.
    """
    if not (root / RUBRICS / "expected").is_dir():
        return {}
    hashes: dict[str, dict[str, list[str]]] = {}
    for path in sorted((root / RUBRICS).glob("[0-9][0-9].yaml")):
        asked = rubric.load_rubric(path)
        expected = rubric.load_expected(root / RUBRICS / "expected" / path.name, asked)
        right = {
            key: hashes_of(path.stem, key, asked.answers[key], value)
            for key, value in expected.items()
            if asked.answers[key].kind == "number" and key not in about_items(asked)
        }
        if right:
            hashes[path.stem] = right
    content = json.dumps(hashes, indent=1) + "\n"
    return {RUBRICS / HASHES: content.encode()}


def pools(root: Path) -> dict[Path, bytes]:
    """Return the lists of all pools' items, and their answers: one folder per item in solutions/.

    A pool is a folder of a lesson whose folders each contain an expected.yaml.
    """
    found: dict[Path, bytes] = {}
    for file in sorted((root / "solutions").glob(f"*/*/*/{EXPECTED}")):
        folder, name = file.parent.parent, file.parent.name
        listed, answers = (
            RUBRICS / below / "pools" / f"{folder.name}.yaml" for below in ("", "expected")
        )
        found[listed] = found.get(listed, b"") + f"- {name}\n".encode()
        parts = ", ".join(file.read_text(encoding="utf-8").splitlines())
        found[answers] = found.get(answers, b"") + f"{name}: {{{parts}}}\n".encode()
    return found


def for_grader(root: Path, asked: tuple[str, ...] = ()) -> dict[Path, bytes]:
    """Return the files for the grader by their paths in the course; {} if there is no grader."""
    if not (root / RUBRICS).is_dir():
        return {}
    found = {}
    for number, folder in choose_lessons(root / "solutions", asked).items():
        programs: dict[str, list[list[str]]] = {}
        gaps: dict[str, list[list[str]]] = {}
        for relative in made_by_hand(folder):
            if relative.suffix in (".py", ".sbatch") and relative.name != "lesson.py":
                text = (folder / relative).read_text(encoding="utf-8")
                programs[relative.as_posix()] = pieces(text, relative.name)
                if filled := [list(gap.body) for gap in find_gaps(text, relative.name)]:
                    gaps[relative.as_posix()] = filled
        found[RUBRICS / "released" / f"{number}.json"] = as_json(programs)
        if (root / RUBRICS / "expected").is_dir():
            found[RUBRICS / "expected" / "gaps" / f"{number}.json"] = as_json(gaps)
    return found


def as_json(programs: dict[str, list[list[str]]]) -> bytes:
    return (json.dumps(programs, indent=1, ensure_ascii=False) + "\n").encode()


def pieces(text: str, file: str) -> list[list[str]]:
    """Return the lines of a program before, between and after its gaps."""
    lines = text.splitlines()
    found, at = [], 0
    for gap in find_gaps(text, file):
        found.append(lines[at : gap.begin - 1])
        at = gap.end
    return [*found, lines[at:]]


def old_files(root: Path, asked: tuple[str, ...] = ()) -> Iterator[tuple[Path, bytes]]:
    """Yield the files that are missing or outdated, with their required content."""
    for path, made in (for_grader(root, asked) | pools(root) | answer_hashes(root)).items():
        there = root / path
        if not there.is_file() or there.read_bytes() != made:
            yield path, made
