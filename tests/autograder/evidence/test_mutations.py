"""Outputs of students after accidents and tricks, and how each is graded.

Two runs, on one rank and on two, are graded as an instructor does it: points, tier of evidence, and
the reason to look. Points are for what was measured; doubt only raises a flag.
"""

import pytest

from autograder.codes import FindingCode
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import make_record, sealed_again, write_lines

RUBRIC = """
lesson: "03"
title: From one rank to two
points: 10
runs: {one: {where: {source: keras}}, two: {where: {source: keras-horovod}}}
checks:
  - {id: finished, title: Both runs trained for three epochs, points: 1,
     require: [{metric: epochs, of: [one, two], at_least: 3}]}
  - {id: accuracy, title: Two ranks learn what one learns, points: 2,
     require: [{metric: test_accuracy, of: two, at_least: 0.97},
               {metric: loss_last, of: two, at_most: 0.3}]}
  - {id: shared, title: Two ranks share the data, points: 3,
     require: [{metric: ranks, of: two, equal: 2}, {metric: shard_overlap, of: two, equal: 0}]}
  - {id: speedup, title: Two ranks are faster than one, points: 4,
     require: [{metric: speedup, of: two, base: one, at_least: 1.5}]}
"""
ROSTER = "student,login\nada,ada\n"
JOBS = (
    "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1|ada|COMPLETED|1772445590|1772445700|1|8|cpu=8,node=1|n1\n"
    "2|ada|COMPLETED|1772445590|1772445700|1|8|cpu=8,node=1|n1\n"
)


def one_rank(**facts) -> list[str]:
    return make_record(**{"lesson": "03", "job_id": "1", "seconds": (12.0, 10.0, 10.2)} | facts)


def two_ranks(**facts) -> list[str]:
    usual = {"lesson": "03", "source": "keras-horovod", "run": "c0ffee00", "size": 2, "job_id": "2"}
    return make_record(**usual | {"seconds": (8.0, 5.0, 5.1)} | facts)


def edited(lines: list[str], old: str, new: str) -> list[str]:
    text = "\n".join(lines)
    assert old in text
    return text.replace(old, new, 1).split("\n")


def with_twin(lines: list[str]) -> list[str]:
    """Repeat rank 1's line that it takes part, with a valid chain."""
    at = next(i for i, line in enumerate(lines) if '"rank":1,"local_rank"' in line)
    return sealed_again([*lines[: at + 1], lines[at], *lines[at + 1 :]])


CUT = two_ranks()[:-3]

# What was done; the run on one rank (None: unchanged) and on two; points, tier, reason to look.
MUTATIONS = [
    ("untouched", None, two_ranks(), 10, "confirmed", None),
    ("truncated", None, CUT, 0, "confirmed", FindingCode.OUTPUT_CUT),
    ("cut within a tag", None, [*CUT, two_ranks()[-3][:5]], 0, "confirmed",
        FindingCode.OUTPUT_CUT),
    ("last line cut in half", None, [*two_ranks()[:-1], two_ranks()[-1][:90]], 0, "confirmed",
        FindingCode.OUTPUT_CUT),
    ("duplicated rank", None, with_twin(two_ranks()), 10, "confirmed", FindingCode.NEVER_WRITTEN),
    ("rank missing", None, two_ranks(first_rank_only=True), 7, "contradicted",
        FindingCode.RANK_MISSING),
    ("unsharded", None, two_ranks(shards=[None, None]), 7, "confirmed", None),
    ("loss is not a number", None, sealed_again(edited(edited(two_ranks(),
        '"loss":0.16666666666666666', '"loss":"nan"'), '"test_accuracy":0.978',
        '"test_accuracy":0.098')), 8, "confirmed", None),
    ("fake speedup: less data", None, two_ranks(samples=12800, train_samples=12800,
        seconds=(2.0, 1.0, 1.0)), 6, "confirmed", "speedup is not measured"),
    ("fake speedup: slow baseline elsewhere", one_rank(device="CPU a slow one",
        seconds=(25.0, 24.0, 24.0)), two_ranks(), 6, "confirmed", "speedup is not measured"),
]  # fmt: skip


@pytest.fixture
def graded(tmp_path, grade):
    """Return a function that grades students' runs, given as name -> (one rank, two ranks)."""

    def command(**students):
        for name, (one, two) in students.items():
            write_lines(tmp_path / "class" / name / "03" / "one_1.out", one)
            write_lines(tmp_path / "class" / name / "03" / "two_2.out", two)
        write_lines(tmp_path / "rubrics" / "03.yaml", [RUBRIC])
        write_lines(tmp_path / "roster.csv", [ROSTER])
        write_lines(tmp_path / "sacct.txt", [JOBS])
        words = ["--rubrics", tmp_path / "rubrics", "--roster", tmp_path / "roster.csv"]
        return grade(tmp_path / "class", *words, *setting("accounting", tmp_path / "sacct.txt"))

    return command


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation[0])
def test_each_mutation_has_its_verdict(graded, mutation):
    _, one, two, score, tier, look = mutation
    result = graded(ada=(one_rank() if one is None else one, two))
    rows = {row[0]: row for row in result.table}
    assert rows["ada"][2:5] == [f"{score}/10", "graded", tier]
    heading = look.heading if isinstance(look, FindingCode) else look
    assert (heading or "") in rows["ada"][5]
    assert bool(look) == (result.exit_code == 1), rows["ada"]
