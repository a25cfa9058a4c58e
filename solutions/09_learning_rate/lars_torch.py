"""LARS as an optimizer of PyTorch; with trust = 0 it is SGD with momentum, as in rates.py.

hvd.DistributedOptimizer wraps it as any other.
"""

import torch


class LARS(torch.optim.Optimizer):
    """An optimizer with speed <- momentum * speed + ratio * gradient; w <- w - lr * speed."""

    def __init__(self, params, lr=0.1, momentum=0.9, trust=0.02):
        super().__init__(params, {"lr": lr, "momentum": momentum, "trust": trust})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                gradient = param.grad
                trust = group["trust"]
                w = param.norm()
                g = gradient.norm()
                # A layer of zeros, such as a new bias, has no length to scale by.
                if trust and w > 0 and g > 0:
                    gradient = gradient * (trust * w / g)
                speed = self.state[param].setdefault("speed", torch.zeros_like(param))
                speed.mul_(group["momentum"]).add_(gradient)
                param.sub_(group["lr"] * speed)
