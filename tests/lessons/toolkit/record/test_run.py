"""The course's Run finds by itself what a program does, and says nothing where it is not sure."""

from types import SimpleNamespace as Fake

import pytest
from forked_runs import TORCH, run_forked
from record_lines import events, facts, of, run_program

from lessons.toolkit.record import run_record
from lessons.toolkit.record.parameters import worst

TRAINING = """
import argparse, copy, os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from lessons.toolkit import data
from lessons.toolkit.record import Run

args = argparse.Namespace(epochs=2, batch_size=8, lr=0.1, seed=1, accumulate=1, net=None)
rank, ranks = (int(os.environ[f"OMPI_COMM_WORLD_{name}"]) for name in ("RANK", "SIZE"))
if ranks > 1:
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
torch.manual_seed(rank)
mnist = data.load("mnist", 53, 10, stand_in=True)
images = TensorDataset(torch.tensor(mnist.x_train) CHANGED, torch.tensor(mnist.y_train))
network = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
run = Run("10", args, network)
model = nn.parallel.DistributedDataParallel(network) if ranks > 1 else network
copy.deepcopy(network)(images[:3][0])  # not the program's network
sampler = DistributedSampler(images, ranks, rank)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    with run.epoch() as log:
        sampler.set_epoch(epoch)
        for x, y in DataLoader(images, args.batch_size, sampler=sampler):
            optimizer.zero_grad()
            for part in zip(x.chunk(2), y.chunk(2)):
                nn.functional.cross_entropy(model(part[0]), part[1]).backward()
            optimizer.step()
        log(loss=1.0, accuracy=0.5)
    with torch.no_grad():
        network(images[:5][0])  # evaluation is not training
        network[1].bias += APART * rank
run.measure("any", 1.5)
run.end(test_loss=0.2, test_accuracy=0.9)
"""
# Ranks, name, what happens to the images, and what a rank adds to its parameters.
TRAININGS = [
    *((ranks, f"{ranks} ranks", "", 0) for ranks in (1, 2, 3)),
    (1, "changed", "* 0.5", 0),
    (2, "apart", "", 1),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the events of each program, which ranks ran that load PyTorch only once."""
    root = tmp_path_factory.mktemp("runs")
    programs = {1: {"compiled": COMPILED, "retried": RETRIED}, 2: {"unconnected": UNCONNECTED}}
    programs[2] |= {kind: PARTS % kind for kind in ("sharded", "stages", "freed")}
    for ranks, name, changed, apart in TRAININGS:
        text = TRAINING.replace("CHANGED", changed).replace("APART", str(apart))
        programs.setdefault(ranks, {})[name] = text
    jobs = []
    for ranks, texts in programs.items():
        for name, text in texts.items():
            (root / name).mkdir()
            (root / name / "train.py").write_text(text)
            jobs.append((ranks, [(root / name, root / name / "train.py")]))
    found = run_forked(*jobs, loaded=(*TORCH, "torch.distributed.fsdp"))
    return {folder.name: events((folder / "job.out").read_text()) for folder in found}


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_run_finds_what_its_ranks_did(ranks, recorded):
    found = recorded[f"{ranks} ranks"]
    header = facts(found)
    assert (header["world_size"], header["global_batch"]) == (ranks, 8 * ranks)
    assert (header["params"], header["precision"]) == (7850, "float32")
    assert (header["optimizer"], header["lr"], header["lr_base"]) == ("sgd", 0.1, 0.1)
    assert (header["source"], header["accumulate"]) == ("ddp" if ranks > 1 else "torch", 1)
    assert header["dataset"]["train_samples"] == 53
    epochs = [event["value"] for event in of(found, "epoch_stop")]
    for epoch in epochs:
        assert epoch["steps"] == -(-53 // (8 * ranks))
        assert epoch["unique_samples"] == 53
        assert epoch["read"]["most"] == (2 if -(-53 // ranks) * ranks > 53 else 1)
    assert len({epoch["read"]["order"] for epoch in epochs}) == 2
    measures = {event["value"]["name"]: event["value"]["value"] for event in of(found, "measure")}
    assert measures == {"any": 1.5, "step_images": 8, "pass_images": 4}
    starts = sorted((event["value"] for event in of(found, "rank")), key=lambda v: v["rank"])
    ends = [event["value"] for event in of(found, "rank_end")]
    assert len({start["built_hash"] for start in starts}) == ranks
    assert {end["start_hash"] for end in ends} == {starts[0]["built_hash"]}
    assert len({end["param_hash"] for end in ends}) == 1
    [stop] = (event["value"] for event in of(found, "run_stop"))
    assert stop["param_moved"] > 0
    assert stop["params_changed"] > 0
    assert stop["param_spread"] == (None if ranks == 1 else 0)


@pytest.mark.ranks
def test_ranks_that_drift_apart_have_a_spread(recorded):
    [stop] = (event["value"] for event in of(recorded["apart"], "run_stop"))
    assert stop["param_spread"] == pytest.approx(1, rel=0.1)


@pytest.mark.ranks
def test_changed_images_have_no_order(recorded):
    epochs = [event["value"] for event in of(recorded["changed"], "epoch_stop")]
    assert [(epoch.get("read"), epoch["unique_samples"]) for epoch in epochs] == [(None, 53)] * 2


UNCONNECTED = """
import os, torch
from lessons.toolkit.record import Run

network = torch.nn.Linear(2, 1)
for _ in range(2):
    run = Run("00", None, network, rank=int(os.environ["OMPI_COMM_WORLD_RANK"]), size=2)
    assert not network._forward_pre_hooks, "there are no images to look up"
    run.end()
"""


@pytest.mark.ranks
def test_ranks_that_no_library_connects_are_one_run_per_launch(recorded):
    runs = {}
    for event in of(recorded["unconnected"], "rank"):
        runs.setdefault(event["metadata"]["run"], set()).add(event["value"]["rank"])
    assert list(runs.values()) == [{0, 1}, {0, 1}]


LATE = """
from lessons.toolkit.record import Run
facts = {"samples": 40, "lr": 0.5, "optimizer": "sgd", "shard": (1, 40, 4)}
run = Run("12", {"epochs": 2, "batch_size": 8, "lr": 0.1}, None, **facts)
for epoch in range(2):
    with run.epoch() as log:
        log(steps=5, lr=0.2)
    log(loss=1.0, val_loss=0.5, val_accuracy=0.25 + epoch / 2)
run.end(test_accuracy=0.75)
"""


def test_what_the_program_says_wins_and_may_come_after_the_epoch(tmp_path):
    found = events(run_program(LATE, folder=tmp_path))
    assert (facts(found)["lr"], facts(found)["optimizer"]) == (0.5, "sgd")
    [rank] = (event["value"] for event in of(found, "rank"))
    assert (rank["samples"], rank["slices"]) == (10, [[1, 40, 4]])
    epochs = [event["value"] for event in of(found, "epoch_stop")]
    assert [(epoch["loss"], epoch["steps"], epoch["lr"]) for epoch in epochs] == [(1, 5, 0.2)] * 2
    assert [epoch["unique_samples"] for epoch in epochs] == [10, 10], "no more than its share"
    tested = [(e["metadata"].get("epoch_num"), e["value"]) for e in of(found, "eval_accuracy")]
    assert tested == [(1, 0.25), (2, 0.75)]


def test_nan_is_the_worst_value():
    assert str(worst([1.0, float("nan"), 2.0])) == "nan"


PARTS = """
import os
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from lessons.toolkit.record import Run

dist.init_process_group("gloo", rank=int(os.environ["OMPI_COMM_WORLD_RANK"]), world_size=2)
torch.manual_seed(1)
KIND = "%s"
network = torch.nn.Linear(4, 3 + dist.get_rank() * (KIND == "stages"))
run = Run("13", None, network)
if KIND == "sharded":
    fully_shard(network, mesh=dist.device_mesh.init_device_mesh("cpu", (2,)))
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
with run.epoch() as log:
    network(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    if KIND == "freed":
        network.weight.untyped_storage().resize_(0)
run.end()
"""


@pytest.mark.ranks
@pytest.mark.parametrize(
    ("kind", "params", "hashes", "spread"),
    [("sharded", 15, 1, None), ("stages", 15 + 20, 2, None), ("freed", 15, 1, None)],
)
def test_parameters_in_parts(kind, params, hashes, spread, recorded):
    found = recorded[kind]
    assert facts(found)["params"] == params
    assert [epoch["value"]["steps"] for epoch in of(found, "epoch_stop")] == [1]
    ends = [event["value"]["param_hash"] for event in of(found, "rank_end")]
    assert len(set(ends)) == hashes
    assert (None in ends) == (kind != "stages")
    [stop] = (event["value"] for event in of(found, "run_stop"))
    assert stop["param_spread"] == spread


COMPILED = """
import pickle, torch
from lessons.toolkit import data
from lessons.toolkit.record import Run

mnist = data.load("mnist", 32, 10, stand_in=True)
x = torch.tensor(mnist.x_train).reshape(32, 784)
network = torch.nn.Sequential(torch.nn.Linear(784, 10))
run = Run("02", {"epochs": 3, "batch_size": 16}, network)
graphs = []

def count(graph, inputs):
    graphs.append(graph)
    return graph.forward

model = torch.compile(network, backend=count)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    with run.epoch() as log:
        for batch in x.split(16):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
    pickle.dumps(network)
assert len(graphs) == 1, len(graphs)
run.end()
"""


@pytest.mark.ranks
def test_a_compiled_network_is_compiled_once_and_can_be_saved(recorded):
    epochs = [event["value"] for event in of(recorded["compiled"], "epoch_stop")]
    assert [(epoch["steps"], epoch["unique_samples"]) for epoch in epochs] == [(2, 32)] * 3


RETRIED = """
import torch
from lessons.toolkit.record import run_record

class Careful(torch.optim.SGD):
    fails = 1

    @torch.no_grad()
    def step(self, closure=None):
        if self.fails:
            self.fails = 0
            raise RuntimeError("out of memory")
        return super().step(closure)

network = torch.nn.Linear(4, 2)
optimizer = Careful(network.parameters(), lr=0.1)
run = run_record.Run("01", None, network)
with run.epoch() as log:
    for _ in range(3):
        network(torch.ones(1, 4)).sum().backward()
        try:
            optimizer.step()
        except RuntimeError:
            pass
run.end()
"""


@pytest.mark.ranks
def test_a_step_that_raised_an_error_is_no_step(recorded):
    [epoch] = of(recorded["retried"], "epoch_stop")
    assert epoch["value"]["steps"] == 2


BLOCKED = """
import torch.distributed as dist
from lessons.toolkit.record import Run

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())

def new_group(**how):
    assert how["timeout"].total_seconds() < 1800, "Gloo's default"
    raise RuntimeError("[gloo/transport/tcp] Connect timeout\\nand a trace")

dist.new_group = new_group
Run("10", None)
"""


@pytest.mark.ranks
def test_ranks_that_gloo_cannot_connect_end_with_one_sentence(tmp_path, capfd):
    with pytest.raises(AssertionError) as failed:
        run_program(BLOCKED, folder=tmp_path)
    assert "Connect timeout. GLOO_SOCKET_IFNAME" in str(failed.value)
    assert "Traceback" not in str(failed.value)


def test_horovod_gathers_values_of_one_type(monkeypatch):
    names = []

    def allgather_object(value):  # Horovod's ranks wait for each other under the type's name
        names.append(type(value).__name__)
        return [value, value]

    horovod = Fake(
        is_initialized=lambda: True, rank=lambda: 0, size=lambda: 2, local_rank=lambda: 0,
        allgather_object=allgather_object,
    )  # fmt: skip
    loaded = {"horovod.torch": horovod}
    monkeypatch.setattr(run_record, "sys", Fake(modules=loaded))
    *_, everyone = run_record.find_ranks()
    assert [everyone(value) for value in (None, "text", 1)] == [[v, v] for v in (None, "text", 1)]
    assert len(set(names)) == 1
