"""The public checks of lesson 10: right solutions pass, each usual mistake gets its advice."""

import sys

import pytest
import torch
from advice import ROOT, assert_advice, changed, failure

from lessons.toolkit.checks import lesson_10
from lessons.toolkit.checks.shared.check import checks_of

LESSON = "10_native"
CHECKS = checks_of(lesson_10)


FILES = {"10.1": "train", "10.2": "train", "10.3": "own_ddp", "10.4": "no_sync", "10.5": "no_sync"}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that returns the module of an exercise with changes."""
    monkeypatch.syspath_prepend(ROOT / "solutions" / LESSON)
    for name in ("train", "no_sync", "own_ddp", "ranks"):  # of another lesson, maybe
        monkeypatch.delitem(sys.modules, name, raising=False)
    return lambda number, *changes: changed(tmp_path, LESSON, f"{FILES[number]}.py", *changes)


@pytest.mark.parametrize("number", FILES)
def test_the_solution_passes(number, program):
    CHECKS[number](program(number))
    assert not torch.distributed.is_initialized()


WRAP = "return DistributedDataParallel(model, device_ids=gpus, bucket_cap_mb=bucket_mb)"
INIT = "dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)"
WITH = "with contextlib.nullcontext() if last else model.no_sync():"
ZERO = "optimizer.zero_grad()\n    "
FORWARD = "loss_function(model.module(x), y).backward()"
MISTAKES = [
    ("10.1", f"    {INIT}\n", "", "without this call"),
    ("10.1", "(backend, rank", "(backend, 'tcp://127.0.0.1:29500', rank", "a constant port"),
    ("10.1", INIT, f"__import__('os').environ['MASTER_PORT'] = '1'\n    {INIT}",
     "a constant port"),
    ("10.1", f"    {INIT}\n", f"    if rank == 0:\n        {INIT}\n", "on rank 0 only"),
    ("10.1", "rank=rank, world_size=size,", "rank, size,", "in the place of another"),
    ("10.1", "rank=rank, world_size=size, timeout=timeout", "rank", "in the place of another"),
    ("10.1", "device_ids=gpus", "device_ids=device", "a list of one"),
    ("10.1", '"nccl"', '"gloo"', "nccl works only between GPUs"),
    ("10.1", '"gloo"', '"nccl"', "backend='gloo'"),
    ("10.1", '"cuda", local_rank', '"cuda", rank', "counts over all nodes"),
    ("10.1", "        torch.cuda.set_device(device)\n", "", "GPU 0 until you choose"),
    ("10.1", "size, timeout=timeout", "size", "pass it on"),
    ("10.1", "device_ids=gpus, ", "", "a list of one"),
    ("10.1", ", bucket_cap_mb=bucket_mb", "", "the size that distribute receives"),
    ("10.1", "return Dist", "Dist", "trains its own network"),
    ("10.2", "    loader.sampler.set_epoch(epoch)\n", "", "Who tells the sampler"),
    ("10.2", "set_epoch(epoch)", "set_epoch(epoch - 1)", "That is the order of epoch 0"),
    ("10.2", "sampler=sampler", "shuffle=True", "every rank reads every image"),
    ("10.2", "return DataLoader(images, batch_size", "return DataLoader(images, 7", "batch size"),
    ("10.2", "images, seed=seed", "images, shuffle=False", "from which seed"),
    ("10.2", "batch_size, sampler=sampler", "batch_size, sampler", "name the argument"),
    ("10.2", "images, seed=seed", "images, seed", "process group"),
    ("10.3", "dist.broadcast(parameter.detach(), 0)", "pass", "every parameter of this network"),
    ("10.3", " / dist.get_world_size()", "", "the ranks' sum"),
    ("10.3", "            message.wait()\n", "", "has the message arrived"),
    ("10.3", "            self.receive()", "            pass", "rank's own gradient"),
    ("10.3", ", async_op=True", "", "stands still"),
    ("10.3", "detach(), 0)", "detach(), dist.get_rank())", "rank 0's numbers"),
    ("10.3", "async_op=True", "op=dist.ReduceOp.AVG, async_op=True", "takes no mean"),
    ("10.3", "        self.missing, self.sent = [len(bucket) for bucket in self.buckets], []\n", "",
     "as at the start"),
    ("10.3", "        if self.missing[number] == 0:\n            bucket = self.buckets[number]\n",
     "        for bucket in self.buckets if not any(self.missing) else []:\n",
     "has filled it"),
    ("10.4", "            share.backward()\n        loss += share.detach()\n",
     "        loss += share\n    loss.backward()\n", "one part at a time"),
    ("10.4", "x.chunk(parts), y.chunk(parts)", "[x], [y]", "Cut images and labels"),
    ("10.4", "torch.cat(outputs)", "torch.cat(outputs[::-1])", "one after the other"),
    ("10.4", "    outputs.append(model(xs))",
     "    model.zero_grad()\n            outputs.append(model(xs))",
     "set the others to zero"),
    ("10.4", WITH, "if True:", "Which passes"),
    ("10.4", WITH, "with model.no_sync():", "Which passes"),
    ("10.4", " * len(xs) / len(x)", "", "a part of one image count"),
    ("10.4", "share.detach()", "share.item()", "a plain number"),
    ("10.4", "enumerate(chunks, 1)", "enumerate(chunks)", "Count the parts"),
    ("10.5", FORWARD, FORWARD.replace("model.module", "model"), "network that it wraps"),
    ("10.5", ZERO + FORWARD, "pass", "has four parts"),
    ("10.5", FORWARD, f"with model.no_sync():\n        {FORWARD.replace('.module', '')}",
     "With no_sync"),
]  # fmt: skip


OTHER_WAYS = [
    ("10.1", "    return device\n",
     "    if device.type == 'cuda':\n"
     "        device = torch.device('cuda', torch.cuda.current_device())\n    return device\n"),
    ("10.1", WRAP, f"model = model.to(device)\n    {WRAP}"),
    ("10.3", "message.wait()", "message.get_future().wait()"),
    ("10.3", "import torch.distributed as dist\n",
     "import torch.distributed as dist\nfrom torch.distributed import all_reduce\n"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "old", "new"), OTHER_WAYS)
def test_another_way_passes(number, old, new, program):
    CHECKS[number](program(number, (old, new)))


def by_name(name):
    first = "import torch.distributed as dist\n"
    return (first, f"{first}from torch.distributed import {name}\n"), (f"dist.{name}(", f"{name}(")


@pytest.mark.parametrize("name", ["broadcast", "all_reduce"])
def test_a_function_may_be_imported_by_its_name(name, program):
    CHECKS["10.3"](program("10.3", *by_name(name)))


@pytest.mark.parametrize(("number", "old", "new", "advice"), MISTAKES)
def test_a_mistake_in_a_program(number, old, new, advice, program):
    assert_advice(failure(CHECKS[number], program(number, (old, new))), advice)
