"""A journal of a training that may be killed: it tells what was lost, and what was read twice."""

import json
from pathlib import Path

import torch.distributed as dist


class Journal:
    """A rank's file beside the checkpoints. Each start of the program is a new life, from 0 on."""

    def __init__(self, folder, rank):
        path = Path(folder) / f"journal_{rank}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("a+", encoding="utf-8")
        self.file.seek(0)
        lives = [sum('"begin"' in line for line in self.file)]
        dist.broadcast_object_list(lives)  # the count of rank 0, which is there in every life
        self.life = lives[0]

    def write(self, **line):
        """Append a line. It is in the file at once, so a kill loses none."""
        self.file.write(json.dumps({"life": self.life, **line}) + "\n")
        self.file.flush()
