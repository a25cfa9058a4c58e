"""tqdm's bars where nothing else tells how far a program came.

100%|██████████| 37613/37613 [09:07<00:00, 68.69it/s]
"""

import re

BAR = re.compile(r"(\d{1,3})%\|[^|]{0,400}\| ?(\d{1,15})/(\d{1,15}) \[")
FORMAT = "bars"
TAG = b"%|"


def read(line: str) -> tuple[int, int] | None:
    """How many of how many, as the last bar on the line says."""
    bars = BAR.findall(line)
    return (int(bars[-1][1]), int(bars[-1][2])) if bars else None
