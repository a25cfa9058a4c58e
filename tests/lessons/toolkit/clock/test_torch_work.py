"""Test that a speed job's processes choose the GPU of their network, with a stand-in for it."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch

from lessons.toolkit.clock.torch_work import TorchWork
from lessons.toolkit.stages.speed_work import SerialWork

ARGS = Namespace(batch_size=4, lr=0.1, width=8)
WORKS = [
    (TorchWork, lambda on: TorchWork(on, on, ARGS)),
    (SerialWork, lambda on: SerialWork(on, ARGS)),
]


@pytest.mark.parametrize(("kind", "work"), WORKS)
@pytest.mark.parametrize("device", ["cuda:1", "cpu"])
def test_a_process_waits_for_the_gpu_of_its_network(kind, work, device, monkeypatch):
    """`torch.cuda.synchronize` waits for the current GPU: GPU 0, if nobody has chosen another."""
    param, chosen = SimpleNamespace(device=torch.device(device), numel=lambda: 3), []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(kind, "optimizer_class", lambda *_, **__: None)
    work(SimpleNamespace(parameters=lambda: [param]))
    assert chosen == ([param.device] if device == "cuda:1" else [])
