"""The true values of published and made-up tables are where the benchmark says they are."""

import importlib.util
import sys
from pathlib import Path
from statistics import median

import pytest

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "grading" / "foretell.py"


@pytest.fixture(scope="module")
def backtest():
    spec = importlib.util.spec_from_file_location("backtest_of_foretell", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look up their own module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def share(found):
    return sum(one.held for one in found) / len(found)


def test_published_tables_are_held_and_not_by_width_alone(backtest):
    found = list(backtest.of_published())
    assert len(found) >= 40
    assert share(found) >= 0.95
    assert median(one.ratio for one in found if one.next) < 1.5
    assert median(one.ratio for one in found if one.beyond == 2) < 1.6


@pytest.mark.slow
def test_made_up_tables_are_held_where_two_fits_are_not(backtest):
    found = [one for noisy, one in backtest.made_up(44, seed=7) if noisy]
    assert share(found) >= 0.95
    assert median(one.ratio for one in found if one.beyond == 2) < 1.7
    assert sum(one.beside_held for one in found) < 0.7 * sum(one.held for one in found)
