"""The check of an installed Horovod, with stand-ins for the launchers."""

import sys

import pytest

from cluster.environment.failure import SetUpError
from cluster.environment.verify import verify

LAUNCHER = """#!/bin/bash
echo "$(basename "$0") ${!#} gpus='$CUDA_VISIBLE_DEVICES'" >>"$CALLS"
for rank in 0 1; do echo "rank $rank of 2 received $AVERAGE, built with $BUILT"; done
"""


@pytest.fixture
def node(tmp_path, monkeypatch):
    for name in ("mpirun", "horovodrun"):
        (tmp_path / name).write_text(LAUNCHER)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    monkeypatch.setenv("BUILT", "MPI Gloo NCCL")
    monkeypatch.setenv("AVERAGE", "0.5")
    return tmp_path


def test_each_framework_and_transport_is_tried_without_gpus(node):
    verify(node, gpu=True)
    calls = (node / "calls").read_text().splitlines()
    assert calls == ["mpirun tensorflow gpus=''", "horovodrun torch gpus=''"]


def test_ranks_that_disagree_are_an_error(node, monkeypatch):
    monkeypatch.setenv("AVERAGE", "1.0")
    with pytest.raises(SetUpError, match="disagree"):
        verify(node)


@pytest.mark.parametrize("missing", ["MPI", "Gloo", "NCCL"])
def test_a_transport_that_is_missing_is_named(node, monkeypatch, missing):
    monkeypatch.setenv("BUILT", "MPI Gloo NCCL".replace(missing, ""))
    with pytest.raises(SetUpError, match=f"built without {missing}"):
        verify(node, gpu=True)
