"""Impossible rounds of a speed job are found; honest ones never get a finding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.codes import FindingCode as Code
from autograder.evidence import rounds
from autograder.measuring.rounds import NAME, PIPELINE
from autograder.reading.files import read_bytes
from tests.autograder.make_record import make_record, some_rounds


def findings(*seconds, ranks=2, total=60.0, **more):
    measures = some_rounds(*seconds, **more)
    lines = make_record(
        lesson="07", source="speed", size=ranks, seconds=(), total=total, measures=measures
    )
    (run,) = read_bytes({"a.out": "\n".join(lines).encode()})
    return [*rounds.rounds_add_up(run), *rounds.faster_than_ranks_can_be(run)]


THREE = ((1.0, 1.1, 1.2), (1.1, 1.2, 1.3), (0.9, 1.0, 1.2))
CAUGHT = {
    "a round copied": ({}, (*THREE, THREE[0]), Code.ROUNDS_COPIED, True),
    "one round under three numbers": ({}, [THREE[0]] * 3, Code.ROUNDS_COPIED, True),
    "longer than the run": ({"total": 9.0}, THREE, Code.ROUNDS_EXCEED_RUN, True),
    "rank 0 idles alone": (
        {},
        [(9.0, 1.0, 1.0 + n / 9) for n in range(3)],
        Code.SPEEDUP_BEYOND_RANKS,
        False,
    ),
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
    assert any(finding.contradicts for finding in found) == wrong
    for finding in found:
        assert finding.look
        assert finding.expected
        assert finding.found
        assert finding.where
        assert finding.try_


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


@pytest.mark.parametrize("name", [NAME, PIPELINE])
@pytest.mark.parametrize(
    ("silent", "together", "codes"),
    [(1, 2, [Code.MORE_CORES_TOGETHER]), (2, 2, []), (2, 1, []), (None, 2, []), ("x", [2], [])],
)
def test_the_cores_of_silent_ranks_and_of_those_together(name, silent, together, codes):
    measures = some_rounds(*THREE, silent_cores=silent, together_cores=together)
    measures = [measure | {"name": name} for measure in measures]
    lines = make_record(lesson="10", source="speed", size=2, seconds=(), measures=measures)
    (run,) = read_bytes({"a.out": "\n".join(lines).encode()})
    assert [finding.code for finding in rounds.as_many_cores(run)] == codes


@pytest.mark.parametrize(
    ("silent", "together", "device", "codes"),
    [
        (1.0, 0.5, "CPU AMD EPYC", [Code.LESS_WORK_TOGETHER]),
        (1.0, 0.9, "CPU AMD EPYC", []),
        (1.0, 0.1, "NVIDIA H100", []),
        (None, 0.5, "CPU AMD EPYC", []),
        ("x", [2], "CPU AMD EPYC", []),
    ],
)
def test_the_cpu_time_of_silent_ranks_and_of_those_together(silent, together, device, codes):
    measures = some_rounds(*THREE, silent_cpu_s=silent, together_cpu_s=together)
    lines = make_record(
        lesson="10", source="speed", size=2, seconds=(), measures=measures, device=device
    )
    (run,) = read_bytes({"a.out": "\n".join(lines).encode()})
    assert [finding.code for finding in rounds.as_much_work(run)] == codes


def test_a_run_without_rounds_and_broken_rounds_raise_nothing():
    assert findings() == []
    assert findings(*THREE, alone_s="nan") == []
    assert findings(*THREE, round=[1]) == []
