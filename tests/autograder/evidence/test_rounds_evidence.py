"""Impossible rounds of a speed job are found; honest ones never get a finding."""

import pytest
from hypothesis import given, strategies as st

from autograder.codes import CONTRADICTS, FindingCode as Code
from autograder.evidence.checks import check_run
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record, some_rounds


def findings(*seconds, ranks=2, total=60.0, **more):
    measures = some_rounds(*seconds, **more)
    lines = make_record(
        lesson="07", source="speed", size=ranks, seconds=(), total=total, measures=measures
    )
    (run,) = read_bytes({"a.out": "\n".join(lines).encode()})
    return list(check_run(run))


THREE = ((1.0, 1.1, 1.2), (1.1, 1.2, 1.3), (0.9, 1.0, 1.2))
CAUGHT = {
    "a round copied": ({}, (*THREE, THREE[0]), Code.ROUNDS_COPIED, True),
    "one round under three numbers": ({}, [THREE[0]] * 3, Code.ROUNDS_COPIED, True),
    "longer than the run": ({"total": 9.0}, THREE, Code.PARTS_EXCEED_RUN, True),
    "no work together": (
        {},
        [(1.0, 1.0, 0.5 + n / 99) for n in range(3)],
        Code.SHARE_BEYOND_ONE,
        False,
    ),
}


@pytest.mark.parametrize(("run", "seconds", "code", "wrong"), CAUGHT.values(), ids=CAUGHT)
def test_what_cannot_be_is_found(run, seconds, code, wrong):
    found = findings(*seconds, **run)
    assert code in [finding.code for finding in found]
    assert any(finding.severity == CONTRADICTS for finding in found) == wrong
    for note in found:
        assert note.look
        assert all((note.expected, note.actual, note.where, note.advice))


NOISE = st.floats(1.0, 4.0)  # by which other work on the machine slows down a phase


@pytest.mark.slow
@given(
    st.lists(st.tuples(NOISE, NOISE, NOISE), min_size=12, max_size=12, unique=True),
    st.integers(2, 64),
    st.floats(0.3, 1.0),
)
def test_noise_gets_no_finding(noise, ranks, share):
    """The exchange takes up to two thirds of the time, and most of its rounds are undisturbed."""
    seconds = [
        tuple(
            0.4 * (1 if number % 3 else by) * cost
            for by, cost in zip(one, (1, 1, 1 / share), strict=True)
        )
        for number, one in enumerate(noise, start=1)
    ]
    seconds = [tuple(s * (1 + n / 1000) for s in one) for n, one in enumerate(seconds)]
    assert findings(*seconds, ranks=ranks, total=sum(map(sum, seconds)) + 10) == []
