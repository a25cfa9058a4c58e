"""Tests of an exchange's speed: honest times in shared memory are fine, a skipped one is not."""

import pytest

from autograder.codes import FindingCode
from autograder.evidence import examine
from autograder.reading.files import read_bytes
from tests.autograder.make_record import make_record


def findings(points, size=2):
    measures = tuple(
        {"name": "allreduce_s", "value": seconds, "unit": "s", "scheme": "ring", "bytes": count}
        for seconds, count in points
    )
    lines = make_record(size=size, source="exchange", measures=measures)
    runs = read_bytes({"a.out": ("\n".join(lines) + "\n").encode()})
    return examine.examine(runs, runs)


# Seconds, bytes.
HONEST = [
    (1.2e-6, 1024),  # the library on two cores of a server processor
    (2.0e-7, 1024),  # the fastest known message passing within one memory
    (4.2e-5, 400_000),
    (1.0e-4, 102_400_000),  # 1 TB/s: links between GPUs
    (0.065, 10_240_000),
]
SKIPPED = [(6.5e-7, 10_240_000), (0.0, 1024), (-1e-6, 1024), (5e-7, 4_000_000)]


def test_honest_times_are_believed():
    assert findings(HONEST).findings == ()


@pytest.mark.parametrize("point", SKIPPED)
def test_a_skipped_exchange_is_a_contradiction(point):
    found = findings([*HONEST, point])
    assert found.tier == "contradicted"
    [finding] = found.findings
    assert finding.code == FindingCode.ALLREDUCE_TOO_FAST


@pytest.mark.parametrize("point", SKIPPED)
def test_a_rank_alone_exchanges_nothing(point):
    assert findings([point], size=1).findings == ()


@pytest.mark.parametrize("odd", ["nan", None, True, [1]])
def test_what_is_no_number_is_left_alone(odd):
    assert findings([(odd, 1024), (1e-6, odd)]).findings == ()
