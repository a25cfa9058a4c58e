"""Find gaps whose solution students can read in another released file.

Some lessons contain the solution of another lesson's program. That is intended, but instructors who
release lessons week by week need to know about it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from lessons.edition.gaps import find_gaps
from lessons.folders import lesson_folders

ENOUGH = 0.75  # share of a gap's distinctive lines that have to be in one file
# Lines that may occur anywhere: a short one, a bare return, the head of a block.
TELLS_NOTHING = re.compile(r"#.*|(?:\W*\w){0,7}\W*|return \w+|(?:for|if|else|with|try)\b.*:")
PROGRAMS = (".py", ".ipynb", ".sbatch")


def open_elsewhere(root: Path, texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, for each exercise of a lesson in `texts`, the files that contain its solution.

    `texts` are the texts that `release.readable` returns.
    """
    lines = {name: set(text.splitlines()) for name, text in texts.items() if is_program(name)}
    found: dict[str, list[str]] = {}
    folders = {Path(name).parts[1] for name in lines}
    for number, telling in gaps_of(root, folders):
        for name, there in lines.items():
            if sum(line in there for line in telling) >= ENOUGH * len(telling):
                files = found.setdefault(number, [])
                files += [name] if name not in files else []
    return found


def is_program(name: str) -> bool:
    """Return whether a file is a program of a lesson.

    Checks are excluded, because they have to contain solutions.
    """
    return name.startswith("lessons/") and "/toolkit/" not in name and name.endswith(PROGRAMS)


def gaps_of(root: Path, folders: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each exercise whose gap contains distinctive lines, together with these lines."""
    for folder in lesson_folders(root / "solutions").values():
        for path in sorted(folder.glob("*.py")) if folder.name in folders else ():
            for gap in find_gaps(path.read_text(encoding="utf-8"), path.name):
                told = telling_lines(gap.body)
                if gap.number and told:
                    yield gap.number, told


def telling_lines(body: Iterable[str]) -> list[str]:
    squeezed = dict.fromkeys(" ".join(line.split()) for line in body)
    return [line for line in squeezed if not TELLS_NOTHING.fullmatch(line)]


def in_words(found: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield one line of text per set of files, in the order of the exercises."""
    by_files: dict[tuple[str, ...], list[str]] = {}
    for number in sorted(found, key=lambda number: (int(number.split(".")[0]), number)):
        by_files.setdefault(tuple(found[number]), []).append(number)
    if by_files:
        yield "Lessons of this release show these solutions. To hide one, leave its lesson out:"
    for files, numbers in by_files.items():
        short = ", ".join(file.removeprefix("lessons/") for file in files)
        yield f"  {', '.join(numbers)}: {short}"
