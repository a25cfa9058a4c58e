"""A value at a threshold, a speedup between no and all points, and the order of ranks' lines."""

import pytest
from hypothesis import assume, given, settings, strategies as st

from autograder.evidence import examine
from autograder.judging import judge
from autograder.judging.conditions import compare
from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import exact
from autograder.reading.files import read_bytes
from autograder.settings import rubric
from autograder.settings.rubric_schema import Condition
from tests.autograder.make_record import make_record

SPEED = """\
lesson: "02"
title: A scaling study
points: 4
runs:
  serial: {where: {source: ddp, world_size: 1}}
  largest: {where: {source: ddp}, largest: ranks}
checks:
  - id: speedup
    title: Speedup
    points: 4
    require:
      - {metric: speedup, of: largest, base: serial, at_least: 1.8, zero_from: 1.0}
"""


@pytest.fixture(scope="session")
def speed_rubric(tmp_path_factory):
    path = tmp_path_factory.mktemp("rubric") / "02.yaml"
    path.write_text(SPEED)
    return rubric.load_rubric(path)


def runs_of(*records):
    return read_bytes({f"{i}.out": "\n".join(r).encode() + b"\n" for i, r in enumerate(records)})


def speed_score(loaded, seconds):
    serial = make_record(source="ddp", run="a" * 8, seconds=(3.0, 2.0, 2.1))
    fast = make_record(source="ddp", run="b" * 8, size=2, seconds=seconds)
    return judge.judge(HandIn(loaded, runs_of(serial, fast), {}, None, "full"))


@pytest.mark.parametrize(
    ("threshold", "tolerance", "value", "status"),
    [
        ({"at_least": 1}, "1%", 0.99, "passed"),
        ({"at_least": 0.9}, 0.01, 0.89, "passed"),
        ({"at_most": 1}, "1%", 1.01, "passed"),
        ({"equal": 1}, "1%", 1.01, "passed"),
        ({"at_least": 1}, "1%", 0.98, "failed"),
    ],
)
def test_a_value_at_the_edge_of_the_tolerance_passes(threshold, tolerance, value, status):
    rule = {"metric": "epochs", "of": ["largest"], "tolerance": tolerance, **threshold}
    [limit] = threshold.values()
    assert compare(exact(value), exact(limit), Condition.model_validate(rule)) == status


@pytest.mark.parametrize(
    ("times", "score", "status"),
    [
        ((9.0, 1.0, 1.0), 4, "passed"),
        ((9.0, 1.12, 1.12), 4, "borderline"),  # 1.79 to 1.88, median 1.83
        ((9.0, 1.5, 1.5), 1.8333, "partial"),  # median 1.37, of 1.0 to 1.8
        ((9.0, 2.2, 2.2), 0, "failed"),
        ((9.0,), 0, "not measured"),
    ],
)
def test_from_no_to_all_points(speed_rubric, times, score, status):
    check = speed_score(speed_rubric, times).checks[0]
    assert (check.score, check.status) == (score, status)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_order_of_interleaved_ranks_changes_nothing(data):
    lines = make_record(source="keras-horovod", size=3, shards=[[i, None, 3] for i in range(3)])
    queues = [
        [x for x in lines if f'"rank":{rank},"' in x.split('"metadata":')[1]] for rank in range(3)
    ]
    assume(sum(map(len, queues)) == len(lines))
    mixed = []
    while any(queues):
        queue = data.draw(st.sampled_from([q for q in queues if q]))
        mixed.append(queue.pop(0))
    one, other = runs_of(lines), runs_of(mixed)
    seen = [examine.examine(r, r) for r in (one, other)]
    assert [s.tier for s in seen] == ["self-consistent"] * 2
    loaded = rubric.load_rubric(rubric.FOLDER / "02.yaml")
    judged = [judge.judge(HandIn(loaded, r, {}, None, "full")) for r in (one, other)]
    assert [(c.id, c.score, c.status) for c in judged[0].checks] == [
        (c.id, c.score, c.status) for c in judged[1].checks
    ]
