"""Check on real ranks that every hand-written collective equals MPI's sum, for any length."""

import sys
from pathlib import Path

import numpy as np
from hypothesis import Phase, example, given, settings, strategies as st
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "06_allreduce"))
import collectives

comm = MPI.COMM_WORLD
rank = comm.Get_rank()


# derandomize: all ranks draw the same lengths; without shrinking, for that would not stay in step.
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)
@given(length=st.integers(1, 3000), kind=st.sampled_from([np.float32, np.float64]))
@example(length=1, kind=np.float32)
@example(length=7, kind=np.float32)
@example(length=1_000_003, kind=np.float32)  # no buffer holds this: a blocking send would hang
def every_collective(length, kind):
    rng = np.random.default_rng(1000 * length + rank)
    values = rng.normal(size=length).astype(kind)
    right = np.empty_like(values)
    comm.Allreduce(values, right, MPI.SUM)
    for allreduce in (collectives.ps_allreduce, collectives.ring_allreduce):
        found = values.copy()
        allreduce(comm, found)
        np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-6)
    parts = np.array_split(values, 3)
    [*found] = collectives.overlapped_allreduce(comm, (part.copy() for part in parts))
    np.testing.assert_allclose(np.concatenate(found), right, rtol=1e-6, atol=1e-6)


try:
    every_collective()
except BaseException:
    import traceback

    traceback.print_exc()
    comm.Abort(1)  # the other ranks would wait for ever
if rank == 0:
    print("every collective equals MPI.SUM on", comm.Get_size(), "ranks")
