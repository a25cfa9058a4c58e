"""Pieces of text that are read from a slow disk, whose delay is pretended."""

import time

import torch
from torch.utils.data import Dataset

from lessons.toolkit.probes.profiling import Readers

from gpt import windows


class Texts(Dataset):
    """The windows that begin at `starts`. Reading one takes `delay` seconds."""

    def __init__(self, ids, starts, length, delay):
        self.ids, self.starts, self.length, self.delay = ids, starts, length, delay
        self.readers = Readers(len(starts))  # notes which thread read which window

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, number):
        time.sleep(self.delay)  # what a small file costs on a busy parallel file system
        self.readers.note(number)
        ids, following = windows(self.ids, self.starts[number : number + 1], self.length)
        return ids[0], following[0]


def together(pieces):
    """Return several windows as one batch."""
    ids, following = zip(*pieces, strict=True)
    return torch.stack(ids), torch.stack(following)
