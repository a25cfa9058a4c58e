"""Tests of what is counted in a step of lesson 14."""

import pytest
import torch
from solution_programs import program

from lessons.toolkit.probes import profiling


def test_every_call_that_needs_a_number_is_a_wait():
    value = torch.ones(1)
    with profiling.Waits() as waits:
        value.item(), value.tolist(), float(value), bool(value), f"{value}"
        value.cpu(), value.numpy(), print(value)
        torch.stack([value, value]).norm()
    assert waits.count >= 8
    for copy in (lambda: value.to("cpu"), lambda: value.to(device="cpu")):
        with profiling.Waits() as waits:
            copy()
        assert waits.count == 1
    with profiling.Waits() as none:
        torch.stack([value, value]).norm().to(value.device).to(torch.float64)
    assert none.count == 0


def test_a_sample_that_nobody_read_counts_as_an_own_read():
    readers = profiling.Readers(4)
    readers.note(0)
    readers.threads[1:3] = 1  # another process
    assert readers.own_share() == 0.5


def test_pytorch_counts_what_the_formula_of_exercise_14_1_says():
    gpt, flops = program("00_cluster", "gpt"), program("14_profile", "flops")
    layers, width, length, texts = 3, 8, 32, 2
    model = gpt.GPT(11, length, layers, width, heads=2)
    ids = torch.zeros(texts, length, dtype=torch.long)
    products = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    params = sum(layer.weight.numel() for layer in products)
    counted, _ = profiling.counted_flops(model, ids, ids)
    right = flops.step_flops(params, layers, width, length, ids.numel())
    assert counted == pytest.approx(right, rel=0.02)
