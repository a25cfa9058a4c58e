"""Tests of the network that a speed job's processes train, with stand-ins for a node's GPUs."""

from argparse import Namespace
from types import SimpleNamespace

import torch

from lessons.toolkit.clock.torch_work import TorchWork
from lessons.toolkit.stages.speed_work import SerialWork

ARGS = Namespace(batch_size=4, lr=0.1, width=8)


class OnGpu1(torch.nn.Linear):
    """A network whose parameters say that they are on GPU 1."""

    def parameters(self, recurse=True):
        for param in super().parameters(recurse):
            yield SimpleNamespace(device=torch.device("cuda", 1), numel=param.numel)


def test_a_process_waits_for_the_gpu_of_its_network(monkeypatch):
    """`torch.cuda.synchronize` waits for the current GPU: GPU 0, if nobody has chosen another."""
    chosen = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    for kind in (TorchWork, SerialWork):
        monkeypatch.setattr(kind, "optimizer_class", lambda *_, **__: None)
    TorchWork(OnGpu1(3, 2), OnGpu1(3, 2), ARGS)
    SerialWork(OnGpu1(3, 2), ARGS)
    assert chosen == [torch.device("cuda", 1)] * 2
    TorchWork(torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), ARGS)
    assert len(chosen) == 2, "there is no GPU to choose"
