"""Watch what enters a PyTorch network while it trains.

The package does not import PyTorch, so this module does so only when it is used.
"""

import statistics
from functools import cached_property
from typing import Any

TOLERANCE = 1e-9  # of an image's product with the random vector; images differ by far more
PART = 4096  # images that are multiplied at once


class TorchWatch:
    """The images that enter a network, found with a hook before its forward pass.

    An image is known by its product with a fixed random vector. The products stay on the device
    until the end of the epoch. The network has the hook only during an epoch's training, because a
    network with hooks cannot be pickled. torch.compile leaves the hook out of its graphs.
    """

    def __init__(self, network: Any, images: Any) -> None:
        import numpy as np
        import torch

        self.network, self.images = network, images.reshape(len(images), -1)
        self.vector = np.random.default_rng(1).normal(size=self.images.shape[1])
        self.key = torch.from_numpy(self.vector)
        self.handle: Any = None  # removes the hook
        self.products: list[Any] = []
        self.since = 0  # images since the last step
        self.per_step: list[int] = []  # of the whole training
        self.largest = 0  # images in one forward pass
        take = torch.compiler.disable(self.take)

        def before_forward(module: Any, inputs: Any) -> None:
            # A copy of the network has the same hook.
            if module is network and network.training and inputs:
                take(inputs[0])

        self.hook = before_forward

    def start(self) -> None:
        self.stop()  # an epoch that an exception ended
        self.products, self.since = [], 0
        self.handle = self.network.register_forward_pre_hook(self.hook)

    def take(self, images: Any) -> None:
        import torch

        if not torch.is_grad_enabled() or not isinstance(images, torch.Tensor):
            return
        rows = images.detach().reshape(len(images), -1)
        self.since += len(rows)
        self.largest = max(self.largest, len(rows))
        if rows.shape[1] == len(self.key):
            self.key = self.key.to(rows.device)
            self.products.append(rows.double() @ self.key)

    def stepped(self) -> None:
        if self.handle is not None:
            self.per_step.append(self.since)
            self.since = 0

    def stop(self) -> None:
        """End an epoch."""
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def counts(self) -> tuple[int, int]:
        """Return the usual number of images per step, and the largest in one forward pass."""
        return int(statistics.median_high(self.per_step or [0])), self.largest

    @cached_property
    def known(self) -> tuple[Any, Any]:
        """Return the sorted products of the data set's images, and their order."""
        import numpy as np

        parts = (self.images[at : at + PART] for at in range(0, len(self.images), PART))
        products = np.concatenate([part.astype(float) @ self.vector for part in parts])
        order = np.argsort(products)
        return products[order], order

    def numbers(self) -> Any:
        """Return the numbers of the last epoch's images; None if they are not known."""
        import numpy as np
        import torch

        if not self.products:
            return None
        found, (known, order) = torch.cat(self.products).cpu().numpy(), self.known
        at = np.searchsorted(known, found).clip(1, len(known) - 1)
        at -= found - known[at - 1] < known[at] - found
        # A larger distance means that the program changes its images.
        return order[at] if np.abs(known[at] - found).max() <= TOLERANCE else None
