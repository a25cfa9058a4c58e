"""Save in a thread, while training goes on."""

from concurrent.futures import ThreadPoolExecutor

import torch


def copied(value):
    """Return the same dictionaries, lists and tuples, with a copy of each tensor in host memory."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(copied(each) for each in value)
    return value


class Background:
    """A writer that lets training go on as soon as the state is copied."""

    def __init__(self, save):
        self.save, self.thread, self.last = save, ThreadPoolExecutor(1), None

    def __call__(self, state, *where):
        self.wait()  # two at a time could end in the wrong order, and need twice the memory
        self.last = self.thread.submit(self.save, copied(state), *where)

    def wait(self):
        """Wait until the last checkpoint is on the disk. Raise the error that its thread raised."""
        if self.last:
            self.last.result()
