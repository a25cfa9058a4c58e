"""Programs compared with the released edition: what is a change, and what asks for a look."""

from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from autograder.evidence.outside_gaps import MOST_LINES, compare
from autograder.evidence.programs import compared
from autograder.settings.rubric import load_released
from autograder.submissions.texts import read_programs
from lessons.edition.gaps import find_gaps, is_marker

RELEASED = {path.stem: load_released(path) for path in Path("autograder/rubrics").glob("*/*.json")}
SOLVED = {n: load_released(Path(f"autograder/rubrics/expected/gaps/{n}.json")) for n in RELEASED}
PROGRAMS = [(lesson, name) for lesson in sorted(RELEASED) for name in RELEASED[lesson]]


def source(edition: str, lesson: str, name: str) -> Path:
    [folder] = Path(edition).glob(f"{lesson}_*")
    return folder / name


def of_text(lesson: str, tmp_path: Path, **texts: str | bytes):
    """Return the changes an instructor would see if these programs of a lesson were submitted."""
    files = {}
    for name, text in texts.items():
        path = tmp_path / (name if name.endswith(".sbatch") else f"{name}.py")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        files[path] = path.name
    return list(compared([], read_programs(files), RELEASED[lesson], SOLVED[lesson]))


def test_every_lesson_has_its_programs_here():
    files = [*Path("lessons").glob("[0-9]*/*.py"), *Path("lessons").glob("[0-9]*/*.sbatch")]
    given_out = {(path.parent.name[:2], path.name) for path in files}
    assert set(PROGRAMS) == given_out


@pytest.mark.parametrize(("lesson", "name"), PROGRAMS)
def test_solved_and_unsolved_programs_have_no_difference(lesson, name, tmp_path):
    """The released program, the solution and a longer solution all count as unchanged."""
    stem = name.removesuffix(".py")
    unsolved = source("lessons", lesson, name).read_text()
    text = source("solutions", lesson, name).read_text()
    solved = "\n".join(line for line in text.splitlines() if not is_marker(line)) + "\n"
    assert len(RELEASED[lesson][name]) == 1 + len(find_gaps(text, name))
    for mine in (unsolved, solved, text):
        for found in of_text(lesson, tmp_path, **{stem: mine}):
            assert found.lines == ()
            marks = {line.marks for gap in found.gaps for line in gap.lines} - {""}
            assert marks <= ({"not filled"} if mine is unsolved else set())


# Lesson, program, the original lines, and what an honest student writes instead.
EDITS = [
    ("02", "train", '    print(f"Test loss', '    print("at last")\n    print(f"Test loss'),
    ("02", "train", "default=4,", "default=10,"),
    ("02", "train", "def main():", "def helper(n):\n    return n + 1\n\n\ndef main():"),
    ("02", "train", "def command_line():\n", "def command_line():\n    # the options\n\n"),
    ("02", "train", "    keras.utils.set_random_seed",
        "    t = time.time()\n    keras.utils.set_random_seed"),
    ("07", "train", "import math\n", "import math  # for ceil, don't ask\n"),
    ("07", "train", '    if hvd.rank() == 0:\n        print',
        '    if hvd.rank() == 0:\n        print("rank 0")\n        print'),
]  # fmt: skip


def edited(lesson: str, name: str, before: str, after: str) -> str:
    lines = source("solutions", lesson, f"{name}.py").read_text().splitlines()
    text = "\n".join(line for line in lines if not is_marker(line)) + "\n"
    assert before in text, "the program has changed: choose another line"
    return text.replace(before, after, 1)


@pytest.mark.parametrize(("lesson", "name", "before", "after"), EDITS)
def test_edits_are_shown(lesson, name, before, after, tmp_path):
    found = of_text(lesson, tmp_path, **{name: edited(lesson, name, before, after)})
    meant = "#" not in after  # comments are never a difference
    assert [text.file for text in found if text.lines] == ([f"{name}.py"] if meant else [])
    shown = "\n".join(line.text for text in found for line in text.lines if line.kind == "+")
    for line in after.splitlines():
        assert not meant or line.strip() in shown or line in before


# Lines added to a gap, and their mark.
IN_GAPS = [
    ("import time as t; t.perf_counter = slow", "clock"),
    ("inspect.currentframe().f_back", "frame"),
    ("os.sched_setaffinity(0, {0})", "affinity"),
    ("network.register_forward_hook(wait)", "hook"),
    ("time.sleep(0.01)", "sleep"),
    ("threading.Thread(target=work).start()", "thread"),
    ("os.environ['PYTHONPATH'] = '.'", "environment"),
    ("torch.set_num_threads(4)", "threads of a library"),
    ("record.end(test_accuracy=0.99)", "record"),
]


@pytest.mark.parametrize(("line", "marked"), IN_GAPS)
def test_what_is_unusual_in_a_gap_is_marked_beside_the_solution(line, marked, tmp_path):
    lines = source("solutions", "10", "train.py").read_text().splitlines()
    at = 1 + next(number for number, text in enumerate(lines) if "BEGIN SOLUTION" in text)
    lines.insert(at, "    " + line)
    mine = "\n".join(text for text in lines if not is_marker(text)) + "\n"
    [found] = of_text("10", tmp_path, train=mine)
    [(gap, odd)] = [(gap, one) for gap in found.gaps for one in gap.lines if one.marks]
    assert odd.text.strip() == line
    assert marked in odd.marks
    assert gap.lines[0] == odd
    assert gap.solution[0] == gap.lines[1].text


def test_a_program_of_ones_own_shows_only_marked_lines(tmp_path):
    [found] = of_text("02", tmp_path, plot="import numpy\nRecord('02')\nprint(numpy.pi)\n")
    assert found.said == "3 lines of the student's own"
    assert [(line.number, line.marks) for line in found.lines] == [(2, "record")]


def test_lines_that_are_not_shown_are_counted(tmp_path):
    more = "".join(f"    x = {number}\n" for number in range(500))
    text = edited("02", "train", "    return parser\n", f"{more}    return parser\n")
    [found] = of_text("02", tmp_path, train=text)
    assert (len(found.lines), found.left_out) == (200, 300)
    assert [line.number for line in found.lines] == sorted(line.number for line in found.lines)


HOSTILE = {
    "binary": b"\0\xff\xfe" * 5000,
    "one endless line": b"x" * 255_000,
    "hashes": b'# "' * 80_000,
    "far too long": b"a = 1\n" * (MOST_LINES + 1),
    "just not too long": b"a = 1\n" * MOST_LINES,
    "larger than is read": b"a = 1\n" * 50_000,
    "no text": b"",
}


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.parametrize("name", ["train", "own"])
def test_no_text_makes_it_fail(how, name, tmp_path):
    for text in of_text("02", tmp_path, **{name: HOSTILE[how]}):
        assert len(text.lines) <= 200
        assert all(len(line.text) <= 200 for line in text.lines)
        assert text.said


PIECES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=4)


@given(PIECES, st.lists(st.sampled_from("abc"), max_size=9))
@example([["a"], ["a"]], ["a"])
def test_nothing_is_gone_that_need_not_be_and_nothing_new_that_may_be_in_a_gap(pieces, lines):
    found = compare(tuple(map(tuple, pieces)), lines)
    released = []
    for number, piece in enumerate(pieces):
        released += [None] * (number > 0) + piece

    @cache
    def fewest(at, line):
        """Return the fewest (gone, new) lines, by trying every alignment."""
        if at == len(released):
            return (0, len(lines) - line)
        gap = released[at] is None
        ways = [plus(fewest(at + 1, line), gone=not gap)]
        if line < len(lines):
            ways.append(plus(fewest(at, line + 1), new=not gap))
            if released[at] == lines[line]:
                ways.append(fewest(at + 1, line + 1))
        return min(ways)

    assert (len(found.removed), len(found.added)) == fewest(0, 0)
    mine = [*found.added, *chain(*found.in_gaps.values())]
    assert len(mine) == len(lines) + len(found.removed) - sum(map(len, pieces))
    numbers = [number for number, _ in mine]
    assert len(numbers) == len(set(numbers))
    assert all(lines[number - 1] == text for number, text in mine)


def plus(known, gone=False, new=False):
    return known[0] + gone, known[1] + new
