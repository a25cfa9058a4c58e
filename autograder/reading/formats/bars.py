"""tqdm's bars where nothing else tells how far a program came.

100%|██████████| 37613/37613 [09:07<00:00, 68.69it/s]
"""

import re

# What is read in, fetched or prepared ahead of a training says nothing of the training.
PREPARING = re.compile(
    r"(?i)(?:load|fetch|extract|tokeni|download|prepar|pre-?process|cach|index|copy|read|map|build|filter"
    r"|generating|sanity|shards|resolving|unpack|pack)\w{0,12}\b[^%|]{0,80}$"
)
BAR = re.compile(r"(\d{1,3})%\|[^|]{0,400}\| ?(\d{1,15})/(\d{1,15}) \[")
FORMAT = "bars"
TAG = b"%|"


def read(line: str) -> tuple[int, int] | None:
    """How many of how many, as the last bar on the line says that may be a training's."""
    last = None
    for bar in BAR.finditer(line):
        last = bar
    if last is None or PREPARING.search(line[max(0, last.start() - 100) : last.start()]):
        return None
    return int(last[2]), int(last[3])
