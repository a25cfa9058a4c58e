"""Tests of lesson 10's PyTorch programs on real ranks: one training, and the hang."""

import contextlib
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from real_runs import ROOT, environment, launch, meet, run, run_together

from lessons.toolkit.plots.exchange import journeys
from tests.lessons.ranks import ddp_steps
from tests.lessons.solution_programs import program

LESSON = ROOT / "solutions" / "10_native"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "ddp_steps.py"
SMALL = ("--train-samples", "641", "--epochs", "2", "--batch-size", "32")


@pytest.mark.slow
@pytest.mark.ranks
def test_three_ranks_give_the_parameters_of_one(tmp_path):
    done = subprocess.run(
        [*launch(3, "mpirun"), sys.executable, STEPS, tmp_path / "out.npz"],
        env=environment(**meet()), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    right = ddp_steps.serial()
    for parts, every in np.load(tmp_path / "out.npz").items():
        assert every.shape == (3, right.size)
        assert np.ptp(every, axis=0).max() == 0.0, f"{parts} parts: the ranks ended differently"
        np.testing.assert_allclose(every[0], right, rtol=0, atol=1e-10, err_msg=parts)


@pytest.fixture(scope="module")
def by_torchrun(tmp_path_factory):
    """Return the folder and record of each program on two ranks that torchrun started."""
    words = {"train.py": SMALL, "buckets.py": ("--rounds", "1", "--batch-size", "2")}
    starts = [(tmp_path_factory.mktemp("by"), LESSON / name, words[name]) for name in words]
    port = meet()["MASTER_PORT"]
    found = run_together(2, starts, launcher="torchrun", PET_MASTER_PORT=port)
    folders = [folder for folder, *_ in starts]
    return dict(zip(words, zip(folders, found, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.ranks
def test_torchrun_starts_the_same_training(by_torchrun):
    _, found = by_torchrun["train.py"]
    assert found.outcome == "completed"
    assert len(found.ranks) == found.workers == 2
    assert found.end["param_spread"] == 0.0
    # 641 images on two ranks: one of 642 is read twice, and does not count twice.
    assert [epoch.unique_samples for epoch in found.epochs] == [641, 641]


@pytest.mark.slow
@pytest.mark.ranks
def test_the_hang_says_where_every_rank_waits(tmp_path):
    words = ("--timeout", "7", "--look-after", "2")
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "hang.py", 2, *words, out=tmp_path, **meet())
    assert re.search("timed out|timeout", str(failed.value), re.IGNORECASE)
    stacks = [(tmp_path / f"stack_of_rank_{rank}.txt").read_text() for rank in (0, 1)]
    assert "barrier" in stacks[0]
    assert "step_in_no_sync" not in stacks[0]
    assert "broadcast" in stacks[1]  # it receives, so it waits with NCCL, too
    assert "step_in_no_sync" in stacks[1]


@pytest.mark.slow
@pytest.mark.ranks
def test_buckets_are_told_of_steps_after_ddp_has_cut_them_to_size(by_torchrun):
    _, found = by_torchrun["buckets.py"]
    for late_ms in (0, 40):
        travels = {size: len(way) for size, (_, way) in journeys(found, late_ms).items()}
        assert travels[25] == 1 < travels[0.25] < travels[0.05]


RANK_2 = {
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "2",
}


@pytest.mark.parametrize(
    ("gpus", "environ", "said"),
    [
        (2, RANK_2 | meet(), "sees 2 GPUs there"),
        (0, RANK_2, "MASTER_ADDR and MASTER_PORT are not set"),
    ],
)
def test_one_sentence_where_a_rank_cannot_begin(gpus, environ, said, monkeypatch):
    ranks = program("10_native", "ranks")
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "SLURM_", "MASTER_", "TORCHELASTIC_")):
            monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(ranks.torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(SystemExit) as ended:
        ranks.who_am_i()
    assert said in str(ended.value)


@pytest.fixture
def programs(monkeypatch):
    """Return the lesson's programs as modules that import each other."""
    monkeypatch.syspath_prepend(str(LESSON))
    for name in ("train", "no_sync", "ranks", "speed"):  # of another lesson, maybe
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield lambda name: program("10_native", name)
    for name in ("train", "no_sync", "ranks", "speed"):
        sys.modules.pop(name, None)


def test_the_hang_waits_for_the_gpu(programs, monkeypatch):
    """NCCL's calls return at once. Rank 1 hangs only if it reads a number of the step."""
    hang, read = programs("hang"), []
    loss = SimpleNamespace(item=lambda: read.append("loss"))
    monkeypatch.setattr(hang.train, "train_step", lambda *_: (loss, None))
    hang.step_in_no_sync(SimpleNamespace(no_sync=contextlib.nullcontext), None, None, None, None)
    assert read == ["loss"]


def test_a_bucket_on_a_gpu_has_the_times_of_its_queue(programs, monkeypatch):
    """On a GPU, messages take 5 ms, but Python's calls return at once."""
    gpu = torch.device("cuda")
    buckets, way, now = programs("buckets"), SimpleNamespace(times=[], device=gpu), [0.0]

    class Event:
        def __init__(self, enable_timing):
            self.record = lambda: setattr(self, "at", now[0])
            self.elapsed_time = lambda other: other.at - self.at

    def all_reduce(tensor, async_op):
        now[0] += 5.0
        (done := torch.futures.Future()).set_result([tensor])
        return SimpleNamespace(get_future=lambda: done)

    monkeypatch.setattr(buckets.torch.cuda, "Event", Event)
    monkeypatch.setattr(buckets.dist, "all_reduce", all_reduce)
    monkeypatch.setattr(buckets.dist, "get_world_size", lambda: 2)
    began = buckets.mark(gpu)
    for _ in range(2):
        buckets.Way.exchange(
            way, None, SimpleNamespace(index=lambda: 3, buffer=lambda: torch.ones(2))
        ).wait()
    seconds = buckets.seconds_between
    assert [(seconds(began, a), seconds(a, b)) for _, a, b in way.times] == [
        (0.0, 0.005),
        (0.005, 0.005),
    ]
