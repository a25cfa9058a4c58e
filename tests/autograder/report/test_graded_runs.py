"""Test which runs a student's page calls graded."""

import json

from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import make_record, write_lines

STUDY = """
lesson: "01"
title: Ours
points: 1
runs:
  train: {where: {source: ours}}
checks:
  - id: sizes
    title: Two sizes
    points: 1
    require: [{metric: study_sizes, of: train, at_least: 2}]
"""


def test_every_run_of_a_study_is_graded(tmp_path):
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics/01.yaml").write_text(STUDY)
    for size, source in {1: "ours", 2: "ours", 4: "other"}.items():
        lines = make_record(lesson="01", source=source, size=size, run=f"{size}" * 8)
        write_lines(tmp_path / f"class/ada/01/job_{size}.out", lines)
    words = [
        "grade",
        tmp_path / "class",
        "--rubrics",
        tmp_path / "rubrics",
        "--out",
        tmp_path / "g",
    ]
    assert CliRunner().invoke(main, [*map(str, words)]).exit_code == 0
    [page] = (tmp_path / "g/students").glob("*.html")
    assert page.read_text().count("(not graded)") == 1
    [record] = (tmp_path / "g/records").glob("*.json")
    runs = json.loads(record.read_text())["grades"][0]["runs"]
    assert {run["workers"]: run["compared"] for run in runs} == {1: True, 2: True, 4: False}
