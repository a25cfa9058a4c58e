"""Tests of the ranks of public checks: processes forked from the notebook's, joined by Gloo."""

import os
import time
from datetime import timedelta

import pytest
import torch.distributed as dist

from lessons.toolkit.checks.shared import real_ranks
from lessons.toolkit.checks.shared.check import CheckFailed, StillAGap, exercise


@exercise("1.1")
def check(work, size):
    """All ranks count to two."""
    return str(real_ranks.on_ranks(size, work, check, "Call it on every rank."))


def test_every_rank_returns_its_result(capsys):
    check(lambda rank: (rank, dist.get_world_size()), 2)
    assert "[(0, 2), (1, 2)]" in capsys.readouterr().out


def test_an_error_of_one_rank_is_that_of_the_check():
    students = {}
    exec("def divide(rank):\n    return 1 / rank\n", students)
    with pytest.raises(CheckFailed, match=r"ZeroDivisionError: .*, in line 2 of divide"):
        check(lambda rank: students["divide"](rank), 2)


def test_an_error_of_a_rank_that_is_no_exception_is_that_of_the_check():
    from torch.distributed.checkpoint import CheckpointException  # loads SymPy too

    def load(rank):
        raise CheckpointException("", {0: (KeyError("step"), None)})

    with pytest.raises(CheckFailed, match="KeyError: 'step'"):
        check(load, 2)


def test_an_open_gap_on_a_rank_is_a_gap():
    def gap(rank):
        raise NotImplementedError("Exercise 1.1: count")

    with pytest.raises(CheckFailed, match="still a gap"):
        check(gap, 1)


def test_an_error_of_a_library_on_a_rank_is_not_a_gap():
    def library(rank):
        raise NotImplementedError("not implemented for 'Long'")

    with pytest.raises(CheckFailed, match="not implemented for 'Long'") as caught:
        check(library, 1)
    assert not isinstance(caught.value, StillAGap)


def test_ranks_meet_whatever_interface_a_site_file_names(monkeypatch, capsys):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "absent0")
    check(lambda rank: rank, 2)
    assert "[0, 1]" in capsys.readouterr().out


def test_a_rank_that_starts_late_is_waited_for(monkeypatch, capsys):
    begin = real_ranks.one_rank

    def late(meet, size, rank, *more):
        time.sleep(rank)
        begin(meet, size, rank, *more)

    monkeypatch.setattr(real_ranks, "one_rank", late)
    monkeypatch.setattr(real_ranks, "patience", lambda: timedelta(seconds=0.5))
    check(lambda rank: rank, 2)
    assert "[0, 1]" in capsys.readouterr().out


@pytest.mark.parametrize(("load", "seconds"), [(0, 5), (2, 10), (20, 15)])
def test_ranks_wait_longer_on_a_busy_machine(monkeypatch, load, seconds):
    monkeypatch.setattr("os.getloadavg", lambda: (load * os.cpu_count(), 0, 0))
    assert real_ranks.patience() == timedelta(seconds=seconds)


def test_ranks_that_cannot_meet_do_not_blame_the_program(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no network device")

    monkeypatch.setattr(dist, "init_process_group", broken)
    with pytest.raises(CheckFailed, match="no network device") as caught:
        check(lambda rank: rank, 2)
    assert "def" not in str(caught.value)


@pytest.mark.slow
def test_a_rank_that_waits_forever_ends_with_advice(monkeypatch):
    monkeypatch.setattr(real_ranks, "PATIENCE", timedelta(seconds=1))
    with pytest.raises(CheckFailed, match="Call it on every rank"):
        check(lambda rank: rank or dist.all_gather_object([None, None], rank), 2)
