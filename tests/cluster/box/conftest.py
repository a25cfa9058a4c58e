"""Tests on the box: an ordinary student works there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.box_students import COURSE, Student, student_named


@pytest.fixture(scope="session")
def course() -> Path:
    return COURSE


@pytest.fixture
def student(box):
    with student_named("student1") as someone:
        yield someone


@pytest.fixture
def neighbour(box):
    with student_named("student2") as someone:
        yield someone


@pytest.fixture(scope="session")
def overtime(box) -> Iterator[tuple[Student, str]]:
    """Submit a job that sleeps past its limit of one minute. Start it early, check it late."""
    with student_named("student1") as someone:
        job = someone.submit("--time=1 --nodes=1 --nodelist=node04", "sleep 600")
        yield someone, job
        someone.try_to(f"scancel {job}")
