"""Read progress bars that name an epoch: PyTorch Lightning, and similar tqdm loops.

Epoch 4: 100%|██████████| 469/469 [00:12<00:00, 38.1it/s, v_num=0, train_loss=0.03, val_acc=0.97]
Epoch 4/4 ━━━━━━━━━━━━━━━━ 469/469 0:00:12 • 0:00:00 38.1it/s v_num: 0 train_loss: 0.03
Train Epoch #1: 100%|██████████| 391/391 [00:31<00:00, 12.4it/s, loss=1.61, accuracy=40.7]
"""

import re

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import EpochNumber, EpochNumbers, EpochPart, LineFacts
from autograder.reading.printed_numbers import VALUE, elapsed, printed

BAR = re.compile(
    r"(?P<kind>Train|Training|Validate|Validation|Val|Test)? ?Epoch ?[#:=]? ?(?P<epoch>\d{1,6})"
    r"(?:/(?P<epochs>\d{1,6}))?:? {0,4}\d{1,3}%\|[^|]{0,200}\| ?(?P<at>\d{1,12})/(?P<of>\d{1,12}) "
    r"\[(?P<time>[\d:]{4,12})<[^,\]]{1,12}(?P<rest>[^\]]{0,1500})"
)
RICH = re.compile(
    r"Epoch (?P<epoch>\d{1,6})/(?P<epochs>\d{1,6}) {1,4}[━╺╸ ]{3,300} ?"
    r"(?P<at>\d{1,12})/(?P<of>\d{1,12}) (?P<time>\d{1,3}:\d\d:\d\d) • "
    r"[\d:-]{1,12}(?P<rest>.{0,1500})"
)
METRIC = re.compile(rf"(?:^|[\s,])([A-Za-z_][\w/]{{0,60}})[=:] ?({VALUE})(?=[,\s\]]|$)")


def read(line: str) -> LineFacts | None:
    bar = BAR.search(line) or RICH.search(line)
    if bar is None:
        return None
    groups = bar.groupdict()
    done = bar["at"] == bar["of"]
    kind = (groups.get("kind") or "").lower()
    checks = kind.startswith(("val", "test"))
    part: EpochPart | None = ("val" if checks else "train") if kind else None
    numbers: EpochNumbers = {}
    if done and not checks:
        numbers["seconds"] = elapsed(bar["time"])
    for printed_name, value in METRIC.findall(bar["rest"]):
        name = metric(printed_name, checks)
        if name and name not in numbers:
            numbers[name] = printed(value)
    return LineFacts(
        int(bar["epoch"]),
        whole=done,
        step=int(bar["at"]),
        steps=None if checks else int(bar["of"]),
        part=part,
        redraws=True,
        numbers=numbers,
    )


def metric(name: str, checks: bool) -> EpochNumber | None:
    name = name.lower().replace("/", "_").removesuffix("_epoch")
    if name.endswith("_step") or "top5" in name or "top_5" in name:
        return None
    checks = checks or name.startswith(("val_", "valid_", "validation_"))
    last = name.split("_")[-1]
    if last in ("acc", "accuracy", "acc1", "top1"):
        return "val_accuracy" if checks else "train_accuracy"
    if last == "loss":
        return "val_loss" if checks else "train_loss"
    return None


READER = Reader("lightning", ("poch",), read)
