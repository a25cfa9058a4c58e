"""Watch what enters a PyTorch network while it trains.

The package does not import PyTorch, so this module does so only when it is used.
"""

import statistics
from typing import Any

from lessons.toolkit.record.reading import loaded_data

TOLERANCE = 1e-9  # of an image's product with the random vector; images differ by far more


class TorchWatch:
    """The images that enter a network, found with a hook before its forward pass.

    An image is known by its product with a fixed random vector. The products stay on the device
    until the end of the epoch. The network has the hook only during an epoch's training, because a
    network with hooks cannot be pickled. torch.compile leaves the hook out of its graphs.
    """

    def __init__(self, network: Any) -> None:
        import torch

        self.network = network
        self.key: Any = None
        self.known: Any = None  # the sorted products of the data set's images, and their order
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

        is_training = self.handle is not None and torch.is_grad_enabled()
        if not is_training or not isinstance(images, torch.Tensor):
            return
        rows = images.detach().reshape(len(images), -1)
        if self.key is None or len(self.key) != rows.shape[1]:
            self.key = torch.from_numpy(random_vector(rows.shape[1])).to(rows.device)
        self.products.append(rows.double() @ self.key)
        self.since += len(rows)
        self.largest = max(self.largest, len(rows))

    def stepped(self) -> None:
        if self.handle is not None:
            self.per_step.append(self.since)
            self.since = 0

    def stop(self) -> None:
        """End an epoch."""
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def step_images(self) -> int | None:
        """Return the usual number of images per step. An epoch's last step may have fewer."""
        return int(statistics.median_high(self.per_step)) if any(self.per_step) else None

    def pass_images(self) -> int | None:
        return self.largest or None

    def numbers(self) -> Any:
        """Return the numbers of the last epoch's images; None if they are not known."""
        import numpy as np
        import torch

        if not self.products or (loaded := loaded_data()) is None:
            return None
        found = torch.cat(self.products).cpu().numpy()
        images = loaded.x_train
        images = images.reshape(len(images), -1)
        if images.shape[1] != len(self.key):
            return None
        if self.known is None:
            vector = random_vector(images.shape[1])
            parts = range(0, len(images), 4096)
            products = np.concatenate([images[i : i + 4096].astype(float) @ vector for i in parts])
            order = np.argsort(products)
            self.known = products[order], order
        products, order = self.known
        at = np.searchsorted(products, found).clip(1, len(products) - 1)
        at -= found - products[at - 1] < products[at] - found
        # A larger distance means that the program changes its images.
        return order[at] if np.abs(products[at] - found).max() <= TOLERANCE else None


def random_vector(length: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).normal(size=length)
