"""Edited, shortened and impossible outputs, and what the grader finds in each."""

import pytest

from autograder.codes import CONTRADICTS, FindingCode as Code
from autograder.evidence import examine
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import DATASET, make_record

TWO = {"size": 2, "source": "keras-horovod"}
EXACT = (2.012345, 1.023456, 1.034567)


def seen(lines, jobs=None, login=None) -> examine.Examined:
    runs = read_bytes({"a.out": ("\n".join(lines) + "\n").encode()})
    return examine.examine(runs, runs, jobs, [login])


def codes(found: examine.Examined) -> list[Code | None]:
    return [finding.code for finding in found.findings]


def test_an_untouched_record_agrees_with_itself():
    for lines in (make_record(), make_record(**TWO)):
        found = seen(lines)
        assert (found.tier, found.findings) == ("self-consistent", ())


# What was done to the record, its lines, and the expected finding.
MUTATIONS = [
    ("line removed", make_record()[:4] + make_record()[5:], Code.CHAIN_BROKEN),
    ("an epoch's clock runs backwards", make_record(wall=(2.0, -30.0, 1.1)), Code.CLOCK_BACKWARDS),
    ("accuracy above 1", make_record(test_accuracy=1.5), Code.NEVER_WRITTEN),
    ("rank left out", make_record(**TWO, first_rank_only=True), Code.RANK_MISSING),
    ("fewer ranks than asked", make_record(ranks_asked=4), Code.OTHER_RANK_COUNT),
    ("epochs longer than the run", make_record(seconds=(9.0, 8.0, 8.0), total=20.0),
        Code.PARTS_EXCEED_RUN),
    ("more samples than there are", make_record(samples=70000), Code.SAMPLES_IMPOSSIBLE),
    ("other data called mnist", make_record(dataset=DATASET | {"sha256": "0" * 64}),
        Code.DATA_IS_ANOTHER),
    ("real data called synthetic", make_record(dataset=DATASET | {"synthetic": True}),
        Code.DATA_IS_ANOTHER),
    ("one run under two headers", [*make_record(seconds=EXACT),
        *make_record(**TWO, run="c0ffee00", seconds=EXACT)], Code.SAME_SECONDS),
    ("more samples than steps hold", make_record(global_batch=16), Code.SAMPLES_IMPOSSIBLE),
    ("claims a cover that the shares lack",
        make_record(**TWO, shards=[[0, None, 2], [0, None, 2]]), Code.SAMPLES_IMPOSSIBLE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "code"), MUTATIONS, ids=[m[0] for m in MUTATIONS])
def test_mutations_are_found(name, lines, code):
    found = seen(lines)
    assert code in codes(found)
    contradicted = any(f.severity == CONTRADICTS for f in found.findings)
    assert found.tier == ("contradicted" if contradicted else "self-consistent")
    for note in found.findings:
        assert note.look
        assert all((note.expected, note.actual, note.where, note.advice))


def test_synthetic_data_is_no_contradiction():
    found = seen(make_record(dataset={"name": "mnist", "synthetic": True, "train_samples": 60000}))
    assert (found.tier, codes(found)) == ("self-consistent", [Code.SYNTHETIC_DATA])
