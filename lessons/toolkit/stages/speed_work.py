"""The networks that the processes of a pipeline's speed job train with SGD on random images."""

from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from lessons.toolkit.clock.record import Kept
from lessons.toolkit.clock.torch_work import TorchWork, flat
from lessons.toolkit.record.run_record import synchronise


class SerialWork(TorchWork):
    """The whole network. See clock/serve.py: Work."""

    image = (784,)
    optimizer_class = torch.optim.SGD

    def __init__(self, layers: Any, args: Any) -> None:
        # At four times this rate, training diverges; at a tenth, rounding hides the updates.
        rate = 50 / (args.width + 512)
        super().__init__(layers, layers, Namespace(batch_size=args.batch_size, lr=rate))

    def state(self) -> tuple[list[float], list[Any]]:
        return [], [flat(self.params).cpu().numpy()]

    def load(self, optimizer: list[float], state: Any) -> None:
        with torch.no_grad():
            for param, value in zip(self.params, self.cut(state), strict=True):
                param.copy_(value)


class StageWork(SerialWork):
    """The layers of one rank.

    step: a function (x, y, micro_batches) that makes one update on all ranks. measure: a function
    that measures other things, on all ranks, for the record that it gets.
    """

    def __init__(
        self, layers: Any, step: Callable[..., Any], measure: Callable[[Any], Any], args: Any
    ) -> None:
        super().__init__(layers, args)
        self.step, self.measure = step, measure
        with torch.no_grad():
            for param in self.params:
                # With PyTorch's initial weights, gradients shrink from layer to layer, and rounding
                # hides the updates of the first layers. This factor gives He's weights.
                param *= 6**0.5

    def train(self, seed: int, steps: int, *words: Any) -> None:
        for x, y in self.batches(seed, steps):
            self.step(x, y, *words)
        synchronise()

    def measures(self) -> list[dict[str, Any]]:
        kept = Kept()
        self.measure(kept)
        return kept.measures
