"""Tests of the conductors' hub, with a thread for each rank, and of the rounds' decisions."""

import random
import socket
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Pipe

import numpy as np
import pytest

from lessons.toolkit.clock import hub, rounds
from lessons.toolkit.clock.data_parallel import PHASES
from lessons.toolkit.clock.messages import LEFT, Channel, EndedError, LateError, LeftError

RANKS = 3


MPIRUN = {"OMPI_COMM_WORLD_SIZE": "3", "PMIX_NAMESPACE": str(hub.free_port())}


def environ(**more):
    here = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(hub.free_port())}
    return MPIRUN | here | more


def on_ranks(work, environs=None):
    """Return what `work(hub)` returns on each rank."""
    everywhere = environs or [environ()] * RANKS

    def rank_of(rank):
        here = hub.Hub(rank, RANKS, everywhere[rank])
        found = work(here)
        here.gather()  # a rank that ends earlier is missed
        return found

    with ThreadPoolExecutor(RANKS) as pool:
        return list(pool.map(rank_of, range(RANKS)))


def test_collectives():
    def work(here):
        mine = np.full(4, here.rank + 1, np.float32)
        return [
            here.gather([here.rank]),
            here.share(here.rank if here.rank == 0 else "not asked"),
            here.mean(mine).tolist(),
            [array.tolist() for array in here.arrays(mine)],
        ]

    rank_0, *others = on_ranks(work)
    assert rank_0[:3] == [[[0], [1], [2]], 0, [2.0] * 4]
    assert rank_0[3] == [[1.0] * 4, [2.0] * 4, [3.0] * 4]
    assert others == [[*rank_0[:3], []]] * 2


@pytest.mark.parametrize("leaves", [1, 2])
def test_a_rank_that_leaves_is_named_and_its_message_is_not_data(leaves):
    everywhere = environ()

    def rank_of(rank):
        here = hub.Hub(rank, RANKS, everywhere)
        if rank:
            with pytest.raises(EndedError):
                here.exchange(LEFT if rank == leaves else "data")
            return
        with pytest.raises(LeftError, match=f"Rank {leaves}"):
            here.gather("data")
        for peer in here.peers:
            peer.connection.close()

    with ThreadPoolExecutor(RANKS) as pool:
        list(pool.map(rank_of, range(RANKS)))


def test_a_port_in_use():
    with socket.create_server(("", 0)) as server:
        here = environ(MASTER_PORT=str(server.getsockname()[1]))
        with pytest.raises(hub.UnmetError, match="Submit the job again"):
            hub.Hub(0, 2, here)


def test_a_rank_of_another_job_cannot_join(monkeypatch):
    monkeypatch.setattr(hub, "MEET_S", 0.5)
    ours = environ(SLURM_JOB_ID="1")
    with ThreadPoolExecutor() as pool:
        rank_0 = pool.submit(hub.Hub, 0, 2, ours)
        with pytest.raises(hub.UnmetError, match="Another program answers"):
            hub.Hub(1, 2, ours | {"SLURM_JOB_ID": "2"})
        with pytest.raises(hub.UnmetError, match=r"is still waiting for ranks \[1\]"):
            rank_0.result()


def test_a_message_that_comes_late_or_never():
    mine, theirs = (Channel(connection) for connection in Pipe())
    with pytest.raises(LateError):
        mine.receive(0.01)
    theirs.send(["words"], np.arange(3))
    words, numbers = mine.receive(1)
    assert (words, numbers.tolist()) == (["words"], [0, 1, 2])
    theirs.connection.close()
    with pytest.raises(EndedError) as ended:
        mine.receive(1)
    assert ended.value.channel is mine


@pytest.mark.parametrize(
    ("shares", "enough"),
    [
        ([0.9] * 10, True),
        ([0.8, 1.0] * 5, False),
        ([0.8, 1.0] * 50, True),
        ([0.9] * 9 + [9.0], True),  # one disturbed round
    ],
)
def test_rounds_end_when_their_median_is_exact(shares, enough):
    assert rounds.exact(shares) == enough


def test_a_plan_has_as_many_steps_as_asked_for_on_average():
    chance, names = random.Random(1), {phase.name for phase in PHASES}
    plans = [rounds.planned(chance, PHASES, 4) for _ in range(300)]
    assert {plan["steps"] for plan in plans} == {2, 3, 4, 5, 6}
    assert len({tuple(plan["order"]) for plan in plans}) == 6
    assert all(set(plan["order"]) == set(plan["seeds"]) == names for plan in plans)
    assert {rounds.planned(chance, PHASES, 1)["steps"] for _ in range(20)} == {1}
