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


def test_the_error_of_a_function_is_its_worst_or_infinite(capsys):
    cases = [((2,), 4.0), ((3,), 9.0)]
    assert profiling.largest_error(lambda x: x * x, cases, "") == 0
    assert profiling.largest_error(lambda x: 4, cases, "") == pytest.approx(5 / 9)
    for wrong in (lambda x: None, lambda x: math.nan, lambda: 0):
        assert profiling.largest_error(wrong, cases, "the error") == math.inf
    assert "the error could not be measured" in capsys.readouterr().err


def test_pytorchs_scaler_is_skipped_where_numbers_are_not_finite():
    class Never:
        def __init__(self, scale, patience):
            self.scale = scale

        def step(self, optimizer, params):
            return False

    assert 0 < scaled_steps.scaler_error(Never) < math.inf
    assert scaled_steps.scaler_error(lambda *_: None) == math.inf
