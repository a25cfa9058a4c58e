"""The tests that begin first (tests/conftest.py) are there: a file that moved would begin last."""

from pathlib import Path

import pytest

from tests.conftest import LONGEST

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", LONGEST)
def test_what_begins_first_is_there(name):
    assert (ROOT / name).exists()
