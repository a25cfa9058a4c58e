"""A first day at the box, as an instructor with an ordinary account."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SOLUTIONS = Path(__file__).parents[3] / "solutions"


def test_a_first_day_on_two_nodes_runs_from_end_to_end(student):
    command = f"module load dl-course && cluster first-day --site box --solutions {SOLUTIONS}"
    said = student.do(command, seconds=900)
    assert "6. Two nodes: does the network work?" in said
    assert "to node0" in said
    assert ': 1 rank, 2 ranks, 2 nodes, lessons 02 and 07"' in said
    assert "**wrong**" not in student.read("first-day/report.md")
    assert '2 nodes, lessons 02 and 07"\n' in student.read("first-day/box.sh")
