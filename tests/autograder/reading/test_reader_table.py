"""Other people's outputs are never misread and mostly read (benchmarks/grading/reader_table.py)."""

import pytest

from tests.autograder.reading.known_outputs import LOGS, Row, rows

pytestmark = pytest.mark.logs
OUTCOMES_RIGHT, FACTS_READ = 0.85, 0.75


@pytest.fixture(scope="module")
def table() -> list[Row]:
    assert LOGS is not None
    return rows(LOGS)


def test_nothing_is_wrong(table):
    assert {row.file: row.wrong for row in table if row.wrong} == {}
    assert {row.file: row.said for row in table if row.outcome == "wrong"} == {}


def test_most_outcomes_are_recognised(table):
    right = [row for row in table if row.outcome == "right"]
    assert len(right) >= OUTCOMES_RIGHT * len(table)


def test_most_facts_are_read(table):
    asked = [fact for row in table for fact in (*row.right, *row.silent, *row.wrong)]
    assert sum(len(row.right) for row in table) >= FACTS_READ * len(asked)
