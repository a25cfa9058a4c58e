"""The full profile with a site's calibration: speed is graded relative to the solution's."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import make_record, write_lines

RUBRIC = """
lesson: "05"
title: Scaling
points: 10
train_samples: {smoke: 12800, full: 60000}
runs:
  one: {where: {source: torch, world_size: 1}}
  most: {where: {source: torch}, largest: ranks}
checks:
  - id: ranks
    title: Four ranks took part
    points: 2
    require: [{metric: ranks, of: most, at_least: {smoke: 2, full: 4}}]
  - id: speedup
    title: Four ranks are about as much faster as the solution's
    points: 4
    require:
      - metric: speedup
        of: most
        base: one
        at_least: {of_reference: 0.8}
        half_from: {of_reference: 0.4}
        only: full
      - {metric: ranks, of: most, at_least: 2}
  - id: throughput
    title: One rank is about as fast as the solution's
    points: 4
    require:
      - {metric: throughput, of: one, at_least: {of_reference: 0.8}, only: full}
      - {metric: epochs, of: one, at_least: 3}
"""
SIZES = (1, 2, 4)


def hand_in_study(folder, epoch=8.0, gains=(1.0, 1.9, 3.5), sizes=SIZES, **facts):
    """Write runs of 1, 2 and 4 ranks whose epochs are faster by the given factors."""
    for size, gain in zip(sizes, gains, strict=True):
        seconds = (epoch / gain + 2, epoch / gain, epoch / gain)
        lines = make_record(
            lesson="05",
            source="torch",
            run=f"{size:08x}",
            size=size,
            seconds=seconds,
            job_id=f"{size}{folder.parent.name}",
            started=f"2026-03-02T10:0{size}:00+00:00",
            **{"device": "NVIDIA A100-SXM4-40GB", "seed": len(folder.parent.name)} | facts,
        )
        write_lines(folder / f"scaling_{size}.out", lines)


@pytest.fixture
def site(tmp_path):
    write_lines(tmp_path / "rubrics" / "05.yaml", [RUBRIC])
    hand_in_study(tmp_path / "solution" / "05")
    path = tmp_path / "site.yaml"
    words = ["calibrate", str(tmp_path / "solution"), "--out", str(path)]
    result = CliRunner().invoke(main, [*words, "--rubrics", str(tmp_path / "rubrics")])
    assert result.exit_code == 0, result.output
    return path


def test_a_lessons_own_folder_is_enough(tmp_path, site):
    alone = tmp_path / "alone.yaml"
    words = ["calibrate", str(tmp_path / "solution" / "05"), "--out", str(alone)]
    result = CliRunner().invoke(main, [*words, "--rubrics", str(tmp_path / "rubrics")])
    assert result.exit_code == 0, result.output
    assert alone.read_text() == site.read_text()


# How the student's runs differ, the points, and words of the page.
STUDIES = [
    ("as the solution", {}, 10, ": 3.5"),
    ("three fifths of it", {"gains": (1.0, 1.4, 2.1)}, 9, "0.8 of the reference"),
    ("no faster with four", {"gains": (1.0, 1.0, 1.0)}, 6, "0.8 of the reference"),
    ("everything half as fast", {"epoch": 16.0}, 6, "samples per second: 3,750"),
    ("less data on four ranks than on one", {"samples": 12800, "train_samples": 12800}, 6,
        "smaller than required"),
]  # fmt: skip


@pytest.mark.parametrize(("study", "score", "words"), [s[1:] for s in STUDIES],
                         ids=[s[0] for s in STUDIES])  # fmt: skip
def test_speed_is_graded_by_the_reference(tmp_path, grade, site, study, score, words):
    hand_in_study(tmp_path / "class" / "ada" / "05", **study)
    files = ("--rubrics", tmp_path / "rubrics", *setting("calibration", site))
    result = grade(tmp_path / "class", *files)
    page = (result.folder / "students" / "ada.html").read_text()
    assert result.table[0][2] == f"{score}/10"
    assert words in page


# How many ranks, how much faster, points. The solution reaches 1.9 on 2 ranks and 3.5 on 4.
OTHER_SIZES = {
    "on two ranks as fast as the solution on two": (2, 1.9, 10),
    "on two ranks no faster than on one": (2, 1.0, 6 + 4 * 0.658),
    "on eight, where nobody measured the solution": (8, 1.0, 10),
}


@pytest.mark.parametrize(("ranks", "gain", "score"), OTHER_SIZES.values(), ids=OTHER_SIZES)
def test_the_reference_is_that_of_as_many_workers(tmp_path, grade, site, ranks, gain, score):
    rubrics = tmp_path / "rubrics"
    text = RUBRIC.replace("smoke: 2, full: 4", "smoke: 2, full: 2")
    write_lines(rubrics / "05.yaml", [text])
    hand_in_study(tmp_path / "class" / "ada" / "05", gains=(1.0, gain), sizes=(1, ranks))
    result = grade(tmp_path / "class", "--rubrics", rubrics, *setting("calibration", site))
    found = float(result.table[0][2].partition("/")[0])
    assert found == pytest.approx(score, abs=0.01)


def test_without_a_calibration_speed_decides_nothing(tmp_path, grade, site):
    hand_in_study(tmp_path / "class" / "ada" / "05", gains=(1.0, 1.0, 1.0), epoch=80.0)
    result = grade(tmp_path / "class", "--rubrics", tmp_path / "rubrics")
    assert result.table[0][2] == "10/10"
