"""A first day at the box for an instructor with an ordinary account."""

import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SOLUTIONS = Path(__file__).parents[3] / "solutions"


def test_a_first_day_on_two_nodes_runs_from_end_to_end_and_submits_nothing_twice(student):
    command = f"module load dl-course && cluster first-day --site box --solutions {SOLUTIONS}"
    said = student.do(command, seconds=900)
    assert "5. Two nodes: does the network work?" in said
    assert "2 ranks add 16 MB over Gloo" in said
    assert ': 1 rank, 2 ranks, 2 nodes, lessons 02 and 07"' in said
    _, graded = said.split("9. The solution's runs, graded like a student's\n   ok: ")
    [(passed, decided)] = re.findall(r"(\d+) of (\d+) checks", graded)
    assert passed == decided != "0"
    [line] = [line.strip() for line in said.splitlines() if 'SITE_TESTED="20' in line]
    assert line.endswith('2 nodes, lessons 02 and 07"')
    report = student.read("first-day/report.md")
    assert f"    {line}\n" in report
    assert "**wrong**" not in report
    assert student.do("echo $HOME").strip() not in report
    assert report.count("\n| ") == 10
    assert "Submitted batch job" in said
    assert "Submitted batch job" not in student.do(command, seconds=300)
