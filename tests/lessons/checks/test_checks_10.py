"""The public checks of lesson 10: right solutions pass, each usual mistake gets its advice."""

import re
import sys
import types

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_10
from lessons.toolkit.checks.shared.check import checks_of

LESSON = ROOT / "solutions" / "10_native"
CHECKS = checks_of(lesson_10)


def test_every_check_has_a_number_and_says_what_it_wants():
    assert {"10.1", "10.2", "10.3", "10.4", "10.5"} == CHECKS.keys()
    for check in CHECKS.values():
        assert len(check.__doc__) > 40


FILES = {"10.1": "train", "10.2": "train", "10.4": "no_sync", "10.5": "no_sync"}


def program(monkeypatch, number, change=lambda text: text):
    """Return a module of the lesson with changes."""
    monkeypatch.setattr(sys, "path", [str(LESSON), *sys.path])
    for name in ("train", "no_sync", "ranks"):  # of another lesson, maybe
        monkeypatch.delitem(sys.modules, name, raising=False)
    name = FILES[number]
    old = (LESSON / f"{name}.py").read_text()
    text = change(old)
    module = types.ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("number", FILES)
def test_the_solution_passes(number, monkeypatch):
    CHECKS[number](program(monkeypatch, number))


GAP = re.compile(r"( *)### BEGIN SOLUTION (.*)\n(?:.*\n)*? *### END SOLUTION")


@pytest.mark.parametrize("number", FILES)
def test_a_gap_is_said_to_be_one(number, monkeypatch):
    module = program(
        monkeypatch, number, lambda text: GAP.sub(r'\1raise NotImplementedError("\2")', text)
    )
    assert "still a gap" in str(failure(CHECKS[number], module))


WRAP = "return DistributedDataParallel(model, device_ids=gpus, bucket_cap_mb=bucket_mb)"
INIT = "dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)"
SHARE = "share = loss_function(outputs[-1], ys) * len(xs) / len(x)"
WITH = "with contextlib.nullcontext() if last else model.no_sync():"
ZERO = "optimizer.zero_grad()\n    "
FORWARD = "loss_function(model.module(x), y).backward()"
MISTAKES = [
    ("10.1", f"    {INIT}\n", "", "without this call"),
    ("10.1", '"nccl"', '"gloo"', "nccl works only between GPUs"),
    ("10.1", '"gloo"', '"nccl"', "back end 'gloo' on a node with no GPU"),
    ("10.2", "    sampler.set_epoch(epoch)\n", "", "sampler.set_epoch(epoch) first"),
    ("10.2", "set_epoch(epoch)", "set_epoch(epoch - 1)", "That is the order of epoch 0"),
    ("10.2", "    sampler.set_epoch(epoch)\n    return torch.tensor(list(sampler))",
     "    numbers = list(sampler)\n    sampler.set_epoch(epoch)\n    return torch.tensor(numbers)",
     "epoch) first, and draw"),
    ("10.4", "            share.backward()\n        loss += share.detach()\n",
     "        loss += share\n    loss.backward()\n", "one part at a time"),
    ("10.4", WITH, "if True:", "in `with model.no_sync():`"),
    ("10.4", WITH, "with model.no_sync():", "last part outside no_sync"),
    ("10.5", FORWARD, FORWARD.replace("model.module", "model"), "model.module"),
    ("10.5", ZERO + FORWARD, "pass", "Call each of these once"),
    ("10.5", FORWARD, f"with model.no_sync():\n        {FORWARD.replace('.module', '')}",
     "in no_sync"),
]  # fmt: skip


OTHER_WAYS = [
    ("10.1", "    return device\n",
     "    if device.type == 'cuda':\n"
     "        device = torch.device('cuda', torch.cuda.current_device())\n    return device\n"),
    ("10.1", WRAP, f"model = model.to(device)\n    {WRAP}"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "old", "new"), OTHER_WAYS)
def test_another_way_passes(number, old, new, monkeypatch):
    CHECKS[number](program(monkeypatch, number, lambda text: text.replace(old, new)))


@pytest.mark.parametrize(("number", "old", "new", "advice"), MISTAKES)
def test_a_mistake_in_a_program(number, old, new, advice, monkeypatch):
    def change(text):
        assert text.count(old) == 1, old
        return text.replace(old, new)

    assert_advice(failure(CHECKS[number], program(monkeypatch, number, change)), advice)


# Exercise 10.3
def arrived(ready, travel):
    now = 0
    for full, milliseconds in zip(ready, travel, strict=True):
        now = max(now, full) + milliseconds
    return now


def emptied(ready, travel):
    right = arrived(ready, travel)
    ready.clear()
    return right


ARRIVALS = [
    (lambda ready, travel: max(ready) + sum(travel), "without overlap"),
    (lambda ready, travel: max(r + t for r, t in zip(ready, travel, strict=True)), "one link"),
    (lambda ready, travel: ready[0] + sum(travel), "before it is full"),
]


def test_the_last_arrival():
    CHECKS["10.3"](arrived)


@pytest.mark.parametrize(("last_arrival", "advice"), ARRIVALS)
def test_wrong_arrivals(last_arrival, advice):
    assert_advice(failure(CHECKS["10.3"], last_arrival), advice)
