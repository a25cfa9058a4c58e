"""Read progress bars that name an epoch: PyTorch Lightning, and similar tqdm loops.

Epoch 4: 100%|██████████| 469/469 [00:12<00:00, 38.1it/s, v_num=0, train_loss=0.03, val_acc=0.97]
Epoch 4/4 ━━━━━━━━━━━━━━━━ 469/469 0:00:12 • 0:00:00 38.1it/s v_num: 0 train_loss: 0.03
Train Epoch #1: 100%|██████████| 391/391 [00:31<00:00, 12.4it/s, loss=1.61, accuracy=40.7]
"""

import re

from autograder.reading.formats.names import epoch_numbers
from autograder.reading.formats.reader import Reader, line_facts
from autograder.reading.line_facts import EpochPart, LineFacts
from autograder.reading.printed_numbers import VALUE, elapsed

BAR = re.compile(
    r"(?P<kind>(?:Train|Training|Validate|Validation|Val|Test)?) ?Epoch ?[#:=]? ?(?P<epoch>\d{1,6})"
    r"(?:/\d{1,6})?:? {0,4}\d{1,3}%\|[^|]{0,200}\| ?(?P<step>\d{1,12})/(?P<steps>\d{1,12}) "
    r"\[(?P<time>[\d:]{4,12})<[^,\]]{1,12}(?P<rest>[^\]]{0,1500})"
)
RICH = re.compile(
    r"(?P<kind>)Epoch (?P<epoch>\d{1,6})/\d{1,6} {1,4}[━╺╸ ]{3,300} ?"
    r"(?P<step>\d{1,12})/(?P<steps>\d{1,12}) (?P<time>\d{1,3}:\d\d:\d\d) • "
    r"[\d:-]{1,12}(?P<rest>.{0,1500})"
)
METRIC = re.compile(rf"(?:^|[\s,])([A-Za-z_][\w/]{{0,60}})[=:] ?({VALUE})(?=[,\s\]]|$)")


def read(line: str) -> LineFacts | None:
    bar = BAR.search(line) or RICH.search(line)
    if bar is None:
        return None
    done = bar["step"] == bar["steps"]
    part: EpochPart = "val" if bar["kind"].startswith(("Val", "Test")) else "train"
    numbers = epoch_numbers(METRIC.findall(bar["rest"]), part)
    if done and part == "train":
        numbers["seconds"] = elapsed(bar["time"])
    facts = line_facts(bar, whole=done, redraws=True, numbers=numbers)
    facts.part = part if bar["kind"] else None
    facts.steps = facts.steps if part == "train" else None
    return facts


READER = Reader("lightning", ("poch",), read)
