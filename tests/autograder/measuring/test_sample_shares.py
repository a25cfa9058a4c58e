"""Test sums over the ranks' own lines: samples that they read and files that they write."""

from collections import Counter
from itertools import chain

import pytest
from hypothesis import given, strategies as st

from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.records import Rank, Run
from tests.autograder.make_run import make_run


def run_of(*ranks: Rank, size: int = 10) -> Run:
    header = {"dataset": {"train_samples": size}}
    return make_run(("a.out",), "record", "completed", ranks=ranks, header=header)


ALL = {"shard_ids_hash": "all"}


def test_a_share_without_an_end_ends_with_the_set():
    run = run_of(Rank(0, slices=((0, None, 3),)), Rank(1, slices=((1, None, 3),)))
    assert METRICS["shard_overlap"].function(run).value == 0
    assert METRICS["shard_uncovered"].function(run).value == 3


SLICE = st.tuples(st.integers(0, 60), st.integers(0, 80), st.sampled_from((1, 2, 3, 4, 8, 12)))
SHARE = st.one_of(
    st.just(ALL),
    st.lists(SLICE, min_size=1, max_size=4).map(lambda parts: {"slices": tuple(parts)}),
)


@given(st.lists(SHARE, min_size=1, max_size=6), st.integers(1, 70))
def test_what_is_counted_is_what_counting_one_by_one_gives(shares, size):
    run = run_of(*(Rank(number, **share) for number, share in enumerate(shares)), size=size)
    parts = [part for share in shares for part in share.get("slices", ((0, size, 1),))]
    read = Counter(chain.from_iterable(range(a, min(b, size), step) for a, b, step in parts))
    assert METRICS["shard_overlap"].function(run).value == read.total() - len(read)
    assert METRICS["shard_uncovered"].function(run).value == size - len(read)


def test_shares_that_need_too_much_memory_are_not_measured():
    run = run_of(*(Rank(n, slices=((n, 10**9, 50),)) for n in range(50)), size=10**9)
    with pytest.raises(NotMeasured, match="more than 100,000,000"):
        METRICS["shard_overlap"].function(run)


@pytest.mark.parametrize("share", [{}, {"shard_ids_hash": "5f"}])
def test_a_share_that_is_not_told_is_not_measured(share):
    run = run_of(Rank(0, **ALL), Rank(1, **share))
    with pytest.raises(NotMeasured):
        METRICS["shard_overlap"].function(run)
