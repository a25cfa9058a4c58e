"""A value at a threshold, and the order of ranks' lines."""

import pytest
from hypothesis import assume, given, settings, strategies as st

from autograder.evidence import examine
from autograder.judging import judge
from autograder.judging.conditions import compare
from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import exact
from autograder.settings import rubric
from autograder.settings.rubric_schema import Condition
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record


def runs_of(*records):
    return read_bytes({f"{i}.out": "\n".join(r).encode() + b"\n" for i, r in enumerate(records)})


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
    judged = [judge.judge(HandIn(loaded, r, {}, "full")) for r in (one, other)]
    assert [(c.id, c.score, c.status) for c in judged[0].checks] == [
        (c.id, c.score, c.status) for c in judged[1].checks
    ]
