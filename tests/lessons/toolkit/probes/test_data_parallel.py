"""Tests of the probes of DDP with right and wrong functions, on one rank of this process."""

import contextlib
import math

import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lessons.toolkit.probes import data_parallel
from lessons.toolkit.probes.data_parallel import accumulation, alone_error, ranks_heard
from tests.lessons.solution_programs import program

CPU = torch.device("cpu")
no_sync = program("10_native", "no_sync")


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def distribute(model, device):
    return DistributedDataParallel(model)


def accumulated(function):
    return accumulation(function, distribute, CPU, lambda value: [value])


@pytest.mark.slow
def test_the_solutions_are_right():
    assert ranks_heard(distribute, CPU, 0, 1) == 1
    found = accumulated(no_sync.accumulate)
    assert found["accumulation_error"] < 1e-12
    assert (found["exchanges"], found["largest_part"]) == (1, 3)
    assert alone_error(no_sync.step_alone, distribute, CPU) < 1e-6


def whole_batch(model, loss_function, x, y, parts):
    loss_function(model(x), y).backward()


def every_part_travels(model, loss_function, x, y, parts):
    for xs, ys in zip(x.chunk(parts), y.chunk(parts), strict=True):
        (loss_function(model(xs), ys) * len(xs) / len(x)).backward()


def sum_of_means(model, loss_function, x, y, parts):
    for xs, ys in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss_function(model(xs), ys).backward()


def counts_as_asked(model, loss_function, x, y, parts):
    """Count the parts as requested: the last one does not exist, so all parts stay in no_sync."""
    for number, (xs, ys) in enumerate(zip(x.chunk(parts), y.chunk(parts), strict=True), 1):
        with model.no_sync() if number < parts else contextlib.nullcontext():
            (loss_function(model(xs), ys) * len(xs) / len(x)).backward()


@pytest.mark.parametrize(
    ("function", "error", "exchanges", "largest"),
    [
        (whole_batch, False, 1, 11),
        (every_part_travels, False, 4, 3),
        (sum_of_means, True, 4, 3),
        (counts_as_asked, False, 0, 3),
        (lambda *_: None, True, math.nan, 11),
    ],
)
def test_other_ways_to_accumulate(function, error, exchanges, largest):
    found = accumulated(function)
    assert (found["accumulation_error"] > 0.1) == error
    assert found["exchanges"] == pytest.approx(exchanges, nan_ok=True)
    assert found["largest_part"] == largest


def test_a_gap_is_told_and_stops_nothing(capsys):
    def gap(*_):
        raise NotImplementedError("Exercise 10.5: step alone")

    assert accumulated(gap)["accumulation_error"] == math.inf
    assert alone_error(gap, distribute, CPU) == math.inf
    assert ranks_heard(gap, CPU, 0, 1) == 0
    assert capsys.readouterr().err.count("could not be measured") == 3


def test_no_step_and_another_step_are_told_from_the_right_one():
    def another(model, optimizer, loss_function, x, y):
        loss_function(model.module(x), y).backward()  # on top of the last step's gradients
        optimizer.step()

    def left_in_eval(model, optimizer, loss_function, x, y):
        no_sync.step_alone(model, optimizer, loss_function, x, y)
        model.eval()

    assert alone_error(left_in_eval, distribute, CPU) == math.inf
    assert alone_error(lambda *_: None, distribute, CPU) > 1e-4
    assert alone_error(another, distribute, CPU) > 1e-4
    assert ranks_heard(lambda model, device: model, CPU, 0, 2) == 1


def test_rank_0_waits_for_its_gpu_before_it_meets_the_others(monkeypatch):
    """With NCCL, a step that needs the other ranks returns at once, and only the GPU waits."""
    happened = []
    monkeypatch.setattr(data_parallel, "synchronise", lambda: happened.append("waited"))
    monkeypatch.setattr(dist, "barrier", lambda group: happened.append("met"))

    def step(*given):
        happened.append("stepped")
        no_sync.step_alone(*given)

    alone_error(step, distribute, CPU)
    assert happened == ["stepped", "waited", "met"]
