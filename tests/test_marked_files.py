"""No test gets lost because its file is not imported (tests/marked_files.py)."""

import re
from pathlib import Path

import pytest

from tests.marked_files import COLLECTED, can_choose, chooses

MAKEFILE = (Path(__file__).parents[1] / "Makefile").read_text()
ELSEWHERE = re.search(r"^ELSEWHERE = (.*)$", MAKEFILE, re.MULTILINE)[1]
REST = f"({ELSEWHERE}) and not nightly"


def test_each_test_that_make_chooses_is_in_a_file_that_is_imported(request):
    """`make test` runs this. It leaves out only files whose tests all have a mark for elsewhere."""
    for expression in (REST, "nightly"):
        for path, marks in set(request.config.stash[COLLECTED]):
            if chooses(expression, marks):
                assert can_choose(expression, path.read_text()), f"{path}: name its marks in it"


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        ("", "", True),
        ("not slow", "", True),
        ("slow or root", "", False),
        ("(slow or root) and not nightly", "@pytest.mark.root\n", True),
        ("(slow or root) and not nightly", "@pytest.mark.ranks  # the root\n", False),
        ("slow", "from tests.breadth import breadth\n", True),
        ("slurm", "from tests.breadth import breadth\n", False),
        ("not (slow or root)", "pytestmark = pytest.mark.slow\n", False),
        ("not (slow or root)", "pytestmark = [pytest.mark.ranks]\n@pytest.mark.slow\n", True),
        ("root and not slow", "pytestmark = pytest.mark.slow\n@pytest.mark.root\n", False),
        ("slow and not nightly", "pytestmark = pytest.mark.slow\n@pytest.mark.nightly\n", True),
    ],
)
def test_a_file_is_left_out_if_it_has_none_of_the_marks(expression, text, expected):
    assert can_choose(expression, text) is expected
