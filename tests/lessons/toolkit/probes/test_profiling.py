"""Tests of what is counted in a step of lesson 14, and of errors of the student's functions."""

import math

import pytest
import torch

from lessons.toolkit.probes import profiling, scaled_steps


def test_every_call_that_needs_a_number_is_a_wait():
    value = torch.ones(1)
    with profiling.Waits() as waits:
        value.item(), value.tolist(), float(value), bool(value), f"{value}"
        torch.stack([value, value]).norm()
    assert waits.count >= 5
    with profiling.Waits() as none:
        torch.stack([value, value]).norm()
    assert none.count == 0


@pytest.mark.slow
def test_operations_are_counted():
    value = torch.ones(3)
    with profiling.Operations() as operations:
        value + value * 2
    assert operations.count == 2


def test_a_sample_that_nobody_read_counts_as_an_own_read():
    readers = profiling.Readers(4)
    readers.note(0)
    readers.threads[1:3] = 1  # another process
    assert readers.own_share() == 0.5


def test_parts_are_timed_and_named():
    part = profiling.Parts()
    for _ in range(2):
        with part("input"):
            pass
    assert len(part.seconds()["input"]) == 2


def test_a_gpu_takes_the_times_of_its_parts_itself(monkeypatch):
    """Its queue is a list here, and is worked off after the host has gone through both parts."""
    queue = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            queue.append(self)

        def elapsed_time(self, later):
            return later.ms - self.ms

    monkeypatch.setattr(torch.cuda, "Event", Event)
    part = profiling.Parts(torch.device("cuda"))
    for name, ms in (("gradients", 30), ("update", 4)):
        with part(name):
            queue.append(ms)
    clock = 0
    for each in queue:
        if isinstance(each, Event):
            each.ms = clock
        else:
            clock += each
    assert part.seconds() == {"gradients": [0.03], "update": [0.004]}


def test_the_error_of_a_function_is_its_worst_or_infinite(capsys):
    cases = [((2,), 4.0), ((3,), 9.0)]
    assert profiling.largest_error(lambda x: x * x, cases, "") == 0
    assert profiling.largest_error(lambda x: 4, cases, "") == pytest.approx(5 / 9)
    for wrong in (lambda x: None, lambda x: math.nan, lambda: 0):
        assert profiling.largest_error(wrong, cases, "the error") == math.inf
    assert "the error could not be measured" in capsys.readouterr().err


@pytest.mark.slow
def test_each_new_shape_is_compiled_once():
    compiled = profiling.Compilations("eager")
    double = compiled.compile(torch.nn.Linear(2, 2))
    for rows in (1, 3, 3, 1, 4):
        double(torch.ones(rows, 2))
    assert compiled.count == 3


def test_zeros_of_the_blocks_are_counted():
    model = torch.nn.Module()
    model.blocks = torch.nn.Linear(2, 1, bias=False)
    model.blocks.weight.grad = torch.tensor([[0.0, 1e-9]])
    assert profiling.share_of_zeros(model) == 0.5


def test_pytorchs_scaler_is_skipped_where_numbers_are_not_finite():
    class Never:
        def __init__(self, scale, patience):
            self.scale = scale

        def step(self, optimizer, params):
            return False

    assert 0 < scaled_steps.scaler_error(Never) < math.inf
    assert scaled_steps.scaler_error(lambda *_: None) == math.inf
