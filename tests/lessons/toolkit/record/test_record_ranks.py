"""Tests of the run record of several ranks, with real launchers and their outputs."""

import functools
import os

import pytest
from record_lines import events, facts, of, run_program

from tests.breadth import breadth

# The rank as each launcher tells it; half of 1,001 samples each; bars that end without a newline.
RANKS = """
import os
from lessons.toolkit.record import Run

def told(*names):
    return next(int(os.environ[name]) for name in names if name in os.environ)

rank = told("OMPI_COMM_WORLD_RANK", "HOROVOD_RANK", "RANK", "SLURM_PROCID")
size = told("OMPI_COMM_WORLD_SIZE", "HOROVOD_SIZE", "WORLD_SIZE", "SLURM_NTASKS")
mnist = dict(name="mnist", sha256="ab", synthetic=False, train_samples=1001, test_samples=10)
run = Run("08", {"epochs": 3, "batch_size": 50}, source="mpi", dataset=mnist,
          rank=rank, size=size, local_rank=rank, shard=(rank, 1001, size))
for number in range(3):
    with run.epoch() as log:
        for step in range(100):
            print(f"\\r{step}/100 [=======>         ] loss: 0.1234", end="", flush=True)
        log(steps=11, loss=1.0, accuracy=0.5)
run.end(param_spread=0.0)
"""

# As root Open MPI wants to be told that this is meant.
ROOT = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
MPIRUN = ("mpirun", *ROOT, "--oversubscribe", "--bind-to", "none", "-np", "2")
LAUNCHERS = {
    "mpirun": MPIRUN,
    "mpirun, tagged": (*MPIRUN, "--output", "tag"),
    "mpirun, tagged with times": (*MPIRUN, "--output", "tag,timestamp"),
    "horovodrun": ("horovodrun", "--gloo", "-np", "2", "-H", "localhost:2"),
    "torchrun": ("torchrun", "--nproc-per-node=2", "--no-python"),
}


def check(output, ranks=2):
    found = events(output)
    assert len({event["metadata"]["run"] for event in found}) == 1
    header = facts(found)
    assert (header["world_size"], header["ranks_asked"]) == (ranks, ranks)
    assert header["global_batch"] == 50 * ranks
    present = sorted((event["value"] for event in of(found, "rank")), key=lambda v: v["rank"])
    assert [value["rank"] for value in present] == list(range(ranks))
    assert sum(value["samples"] for value in present) == 1001
    assert [value["slices"] for value in present] == [[[r, 1001, ranks]] for r in range(ranks)]
    assert sorted(e["metadata"]["rank"] for e in of(found, "rank_end")) == list(range(ranks))
    assert len(of(found, "epoch_stop")) == 3
    assert of(found, "epoch_stop")[0]["value"]["unique_samples"] == min(1001, 11 * 50 * ranks)
    assert len(of(found, "run_stop")) == 1
    return found


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """Return what a launcher's ranks print, as a function of its name."""
    folder = tmp_path_factory.mktemp("launched")
    return functools.cache(lambda name: run_program(RANKS, launcher=LAUNCHERS[name], folder=folder))


@pytest.mark.ranks
@pytest.mark.parametrize("name", breadth(LAUNCHERS, quick=1))
def test_launchers(name, launched):
    assert facts(check(launched(name)))["launcher"] == name.split(",")[0]


@pytest.mark.ranks
def test_ranks_that_each_believe_to_be_alone_are_runs_of_one(tmp_path):
    alone = "from lessons.toolkit.record import Run\nRun('00', source='facts').end()\n"
    found = events(run_program(alone, launcher=MPIRUN, folder=tmp_path))
    assert len({event["metadata"]["run"] for event in found}) == 2
    headers = [event["value"] for event in of(found, "header")]
    assert [(value["world_size"], value["ranks_asked"]) for value in headers] == [(1, 2)] * 2


DIES = """
import time
open(f"rank{rank}", "w").close()
while rank == 0 or not os.path.exists("rank0"):
    time.sleep(0.01)
time.sleep(1)  # mpirun drops what it has not yet read of rank 0
os._exit(9)
"""


@pytest.mark.ranks
def test_a_rank_that_dies_leaves_whole_lines(tmp_path):
    text = RANKS.replace("run.end(", DIES + "run.end(")
    launcher = LAUNCHERS["mpirun, tagged"]
    found = events(run_program(text, launcher=launcher, folder=tmp_path, fails=True))
    assert len(of(found, "rank")) == 2
    assert len(of(found, "epoch_stop")) == 3
    assert not of(found, "rank_end")
    assert not of(found, "run_stop")
