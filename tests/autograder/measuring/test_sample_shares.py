"""Who reads which sample, and who writes which file: sums over the ranks' own lines."""

import pytest

from autograder.measuring.measure import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.records import Rank, Run


def run_of(*ranks: Rank, size: int = 10, end: dict | None = None) -> Run:
    return Run(
        files=("a.out",),
        format="record",
        outcome="completed",
        ranks=ranks,
        header={"dataset": {"train_samples": size}},
        end=end or {},
    )


ALL = {"shard_ids_hash": "all"}
SHARES = [
    # each rank's share, samples read twice, samples read by nobody
    ([{"shard": (0, 10, 2)}, {"shard": (1, 10, 2)}], 0, 0),
    ([{"shard": (0, 10, 3)}, {"shard": (1, 10, 3)}], 0, 3),
    ([ALL, ALL, ALL], 20, 0),
    ([{"slices": ((0, 2, 1), (4, 6, 1), (8, 10, 1))}, {"slices": ((2, 4, 1), (6, 8, 1))}], 0, 0),
    ([{"slices": ((0, 4, 1),)}, {"slices": ((2, 4, 1), (6, 8, 1))}], 2, 4),
    ([{"slices": ((0, 4, 1), (0, 4, 1))}], 4, 6),
    ([ALL, {"slices": ((2, 4, 1), (6, 8, 1))}], 4, 0),
]


@pytest.mark.parametrize(("shares", "twice", "never"), SHARES)
def test_overlap_and_cover(shares, twice, never):
    run = run_of(*(Rank(number, **share) for number, share in enumerate(shares)))
    for name, value in (("shard_overlap", twice), ("shard_uncovered", never)):
        assert METRICS[name].function(run).value == value


@pytest.mark.parametrize("share", [{}, {"shard_ids_hash": "5f"}, {"slices": ((-1, 4, 1),)}])
def test_a_share_that_is_not_told_is_not_measured(share):
    run = run_of(Rank(0, **ALL), Rank(1, **share))
    with pytest.raises(NotMeasured):
        METRICS["shard_overlap"].function(run)


@pytest.mark.parametrize(
    ("each", "end", "files"), [((1, 0), 1, 1), ((1, 1), 1, 2), ((1, None), 1, 1), ((0, 0), None, 0)]
)
def test_files_are_added_up_over_the_ranks(each, end, files):
    ranks = (Rank(number, files_written=count) for number, count in enumerate(each))
    found = METRICS["files_written"].function(run_of(*ranks, end={"files_written": end}))
    assert found.value == files
