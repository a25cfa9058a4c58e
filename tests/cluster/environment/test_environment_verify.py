"""The check of an installed Horovod, on a simulated node with GPUs."""

import sys

import pytest

from cluster.environment.failure import SetUpError
from cluster.environment.verify import verify

# Two ranks as NCCL sees them: it refuses to run if both are on the same GPU.
MPIRUN = """#!/bin/bash
echo "$(basename "$0") ${!#} gpus='$CUDA_VISIBLE_DEVICES'" >>"$CALLS"
if [ "$CUDA_VISIBLE_DEVICES" != "" ] && [ "${!#}" != gpu ]; then
    echo "ncclInvalidUsage: Duplicate GPU detected: rank 0 and rank 1 both on CUDA device 7000"
    exit 1
fi
[ "$BROKEN" = "${!#}" ] ||
    for rank in 0 1; do echo "rank $rank of 2 received 0.5, built with $BUILT"; done
"""
NVIDIA_SMI = """#!/bin/bash
for number in $(seq 0 $((GPUS - 1))); do echo "GPU $number: NVIDIA A100 (UUID: GPU-$number)"; done
"""


@pytest.fixture
def node(tmp_path, monkeypatch):
    for name, text in (("mpirun", MPIRUN), ("horovodrun", MPIRUN), ("nvidia-smi", NVIDIA_SMI)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    monkeypatch.setenv("GPUS", "4")
    monkeypatch.setenv("BUILT", "MPI Gloo NCCL")
    return tmp_path


def calls(node):
    return (node / "calls").read_text().splitlines()


def test_the_first_check_keeps_gpus_out_of_sight_and_nccl_has_one_of_its_own(node):
    verify(node, gpu=True)
    assert calls(node) == [
        "mpirun tensorflow gpus=''",
        "horovodrun torch gpus=''",
        "mpirun gpu gpus='0,1,2,3'",
        "mpirun gpu gpus='0,1,2,3'",
    ]


@pytest.mark.parametrize("missing", ["MPI", "Gloo", "NCCL"])
def test_a_transport_that_is_missing_is_named(node, monkeypatch, missing):
    monkeypatch.setenv("BUILT", "MPI Gloo NCCL".replace(missing, ""))
    with pytest.raises(SetUpError, match=f"built without {missing}"):
        verify(node, gpu=True)
