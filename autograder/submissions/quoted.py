"""Quote the lines of outputs that measures come from, with the lines before and after them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from pathlib import Path

from autograder.records import Where
from autograder.submissions.regular_files import open_regular
from autograder.verdict import QuotedLine

AROUND = 1  # lines before and after
MOST_PLACES = 16  # per grade
LAST = 20_000  # a line behind it is not quoted, because everything before it would be read again
LONGEST, LONGEST_AROUND = 640, 100  # characters of a line


def quoted_lines(outputs: Mapping[Path, str], places: Iterable[Where]) -> tuple[QuotedLine, ...]:
    """Return the lines at these places, in order. `outputs` maps the outputs' paths to names."""
    wanted = defaultdict[str, set[int]](set)
    for place in islice(dict.fromkeys(one for one in places if 0 < one.line <= LAST), MOST_PLACES):
        wanted[place.file].add(place.line)
    return tuple(
        line
        for path, name in outputs.items()
        if name in wanted
        for line in lines_of(path, name, wanted[name])
    )


def lines_of(path: Path, name: str, numbers: Collection[int]) -> list[QuotedLine]:
    around = {number + step for number in numbers for step in range(-AROUND, AROUND + 1)}
    found = []
    try:
        with open_regular(path) as file:
            for number in range(1, max(numbers) + AROUND + 1):
                data = file.readline(1 << 20)
                if not data:
                    break
                if number in around:
                    most = LONGEST if number in numbers else LONGEST_AROUND
                    text = data.rstrip(b"\r\n").rpartition(b"\r")[2]  # the last state of a bar
                    line = text[: 4 * most].decode("utf-8", "replace")
                    line = line if len(line) <= most else f"{line[: most - 2]} …"
                    found.append(QuotedLine(name, number, line))
    except OSError:  # reading it for the grade has already reported this
        return []
    return found
