"""A PyTorch network that a process of a speed job trains with Adam on random images."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from lessons.toolkit.record.run_record import synchronise


class TorchWork:
    """The PyTorch version of serve.Work. `model` is the network or a gradient-averaging wrapper."""

    image: tuple[int, ...] = (3, 32, 32)
    optimizer_class: Any = torch.optim.Adam

    def __init__(self, network: Any, model: Any, args: Any) -> None:
        self.params = list(network.parameters())
        self.size = self.counted = sum(param.numel() for param in self.params)
        self.model, self.batch_size = model, args.batch_size
        self.device = self.params[0].device
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)  # the one that `synchronise` waits for
        self.lr = args.lr
        self.optimizer = self.optimizer_class(model.parameters(), lr=args.lr)
        self.loss = nn.CrossEntropyLoss()

    def batches(self, seed: int, steps: int) -> Iterator[Any]:
        generator = torch.Generator(self.device).manual_seed(seed)
        here = {"generator": generator, "device": self.device}
        for _ in range(steps):
            images = torch.rand(self.batch_size, *self.image, **here)
            yield images, torch.randint(0, 10, (self.batch_size,), **here)

    def train(self, seed: int, steps: int) -> None:
        for batch in self.batches(seed, steps):
            self.backward(*batch)
            self.optimizer.step()
        synchronise()

    def backward(self, images: Any, labels: Any) -> None:
        self.optimizer.zero_grad()
        self.loss(self.model(images), labels).backward()

    def values(self, places: Any) -> Any:
        return flat(self.params)[torch.from_numpy(places).to(self.device)].cpu().numpy()

    def state(self) -> tuple[list[float], list[Any]]:
        states = [self.optimizer.state[param] for param in self.params]
        adam = [int(states[0]["step"]), self.lr]
        moments = [[state[name] for state in states] for name in ("exp_avg", "exp_avg_sq")]
        return adam, [flat(arrays).cpu().numpy() for arrays in (self.params, *moments)]

    def load(self, adam: list[float], state: Any) -> None:
        params, first, second = (self.cut(part) for part in np.split(state, 3))
        with torch.no_grad():
            for param, value, *moments in zip(self.params, params, first, second, strict=True):
                param.copy_(value)
                kept = self.optimizer.state[param]
                kept["step"].fill_(adam[0])
                kept["exp_avg"].copy_(moments[0])
                kept["exp_avg_sq"].copy_(moments[1])

    def gradient(self, batch: Any) -> Any:
        self.backward(*batch)
        return flat([param.grad for param in self.params]).cpu().numpy()

    def apply(self, gradient: Any) -> None:
        for param, value in zip(self.params, self.cut(gradient), strict=True):
            param.grad = value
        self.optimizer.step()

    def cut(self, array: Any) -> list[Any]:
        """Split a flat array into tensors with the parameters' shapes."""
        whole = torch.tensor(array, device=self.device)
        pieces = whole.split([param.numel() for param in self.params])
        return [piece.view_as(param) for piece, param in zip(pieces, self.params, strict=True)]


def flat(tensors: list[Any]) -> Any:
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
