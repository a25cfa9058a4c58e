"""Parametrized cases of which `make test` runs only the first few; `make test-all` runs all."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def breadth(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return the cases for `pytest.mark.parametrize`, all but the first `quick` marked as slow."""
    return [case if number < quick else slow(case) for number, case in enumerate(cases)]


def slow(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
