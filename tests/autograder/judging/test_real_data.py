"""A minimum accuracy is not required of the synthetic stand-in data, only of real data."""

import pytest

from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.settings import rubric
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import DATASET, make_record

FLOOR = """\
lesson: "02"
title: A floor
points: 4
runs:
  one: {where: {source: keras}}
  other: {where: {source: torch}}
checks:
  - id: learnt
    title: It learnt
    points: 4
    require:
      - {metric: test_accuracy, of: [one, other], at_least: 0.9, real_data: true, take: TAKE}
"""
REAL, STAND_IN = DATASET, DATASET | {"synthetic": True}


@pytest.mark.parametrize(
    ("take", "one", "other", "score"),
    [
        ("each", (REAL, 0.95), (REAL, 0.5), 0),
        ("each", (REAL, 0.95), (STAND_IN, 0.5), 4),
        ("each", (REAL, 0.5), (STAND_IN, 0.95), 0),
        ("each", (STAND_IN, 0.1), (STAND_IN, 0.1), 4),
        ("each", ("a word", 0.5), (REAL, 0.95), 0),
        ("best", (REAL, 0.5), (REAL, 0.95), 4),
        ("best", (STAND_IN, 0.1), (STAND_IN, 0.1), 4),
    ],
)
def test_the_floor_is_for_real_data(tmp_path, take, one, other, score):
    path = tmp_path / "02.yaml"
    path.write_text(FLOOR.replace("TAKE", take))
    files = {}
    for source, said in (("keras", one), ("torch", other)):
        if said is not None:
            dataset, accuracy = said
            lines = make_record(
                source=source, run=source.ljust(8, "0"), test_accuracy=accuracy, dataset=dataset
            )
            files[f"{source}.out"] = "\n".join(lines).encode()
    judged = judge.judge(HandIn(rubric.load_rubric(path), read_bytes(files), {}, "smoke"))
    assert judged.score == score
