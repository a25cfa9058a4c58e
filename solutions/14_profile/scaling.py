"""Loss scaling: keep the gradients of a float16 training large enough to be numbers."""

import torch


class LossScaler:
    """The factor of the loss. It falls if gradients overflow, and grows after many good steps."""

    def __init__(self, scale=2.0**32, patience=20):
        self.scale, self.patience = scale, patience
        self.good_steps = 0  # since the scale has changed

    def step(self, optimizer, params):
        """Undo the factor and update, or halve the scale. Return whether there was an update.

        The gradients are those of the loss multiplied by `scale`.
        """
        ### BEGIN SOLUTION Exercise 14.6: unscale; skip and halve, or step and perhaps double
        for param in params:
            param.grad /= self.scale
        finite = torch.stack([param.grad.isfinite().all() for param in params]).all()
        if not finite:  # the host waits for this one number
            self.scale, self.good_steps = self.scale / 2, 0
            return False
        optimizer.step()
        self.good_steps += 1
        if self.good_steps == self.patience:
            self.scale, self.good_steps = self.scale * 2, 0
        return True
        ### END SOLUTION
