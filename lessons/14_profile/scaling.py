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
        raise NotImplementedError(
            "Exercise 14.6: unscale; skip and halve, or step and perhaps double"
        )
