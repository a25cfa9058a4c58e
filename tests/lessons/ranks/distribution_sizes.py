"""Check on real ranks that shares of any list are disjoint, complete, and dealt in turn."""

import random
import sys
from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mpi4py import MPI

from lessons.toolkit.ranks import DataDistributionError, DataDistributor

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()


# derandomize: all ranks draw the same cases; without shrinking, for that would not stay in step.
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    length=st.integers(0, 200),
    kind=st.sampled_from([list, tuple, set, frozenset, dict.fromkeys]),
    equal=st.sampled_from([None, "pad", "drop"]),
    shuffle=st.booleans(),
    seed=st.none() | st.integers(0, 2**32),
)
def shares(length, kind, equal, shuffle, seed):
    random.seed(RANK)  # ranks that would draw orders of their own
    everything = [f"part_{number}" for number in range(length)]
    distributor = DataDistributor(COMM, shuffle=shuffle, seed=seed, equal=equal)
    try:
        mine = distributor(lambda: kind(everything))()
    except DataDistributionError:
        mine = None
    every = COMM.allgather(mine)
    if length < SIZE:
        assert every == [None] * SIZE
        return
    given = Counter(item for share in every for item in share)
    lengths = [len(share) for share in every]
    assert set(given) <= set(everything)
    if equal == "drop":
        assert set(lengths) == {length // SIZE}
        assert max(given.values()) == 1
    elif equal == "pad":
        assert set(lengths) == {-(-length // SIZE)}
        assert set(given) == set(everything)
    else:
        assert sorted(lengths, reverse=True) == lengths
        assert lengths[0] - lengths[-1] <= 1
        assert given == Counter(everything)
    if not shuffle and equal is None and kind in (list, tuple, dict.fromkeys):
        assert mine == everything[RANK::SIZE]


try:
    shares()
except BaseException:
    import traceback

    traceback.print_exc()
    COMM.Abort(1)  # the other ranks would wait for ever
print(f"rank {RANK} of {SIZE}: every share is right")
sys.stdout.flush()
