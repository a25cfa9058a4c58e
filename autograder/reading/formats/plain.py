"""Lines that students write themselves: an epoch's number, and names with values after them.

Epoch: 5 | Training Loss:  0.847 | Training Accuracy:  70.098
Epoch [3/10], Step [100/600], Loss: 0.1234, val_acc=0.91, time=12.3s
Epoch 1/3.. Step 5.. Train loss: 1.090.. Test accuracy: 0.702
"""

import re

from autograder.reading.formats.reader import Reader, Said
from autograder.reading.printed_numbers import VALUE, fraction, printed

EPOCH = re.compile(
    r"(?i)(?<![a-z])epoch(?: no\.?)? {0,2}[:#=\[(]?\s{0,3}(\d{1,6})"
    r"(?:\s?(?:/|of)\s?(\d{1,6}))?(?![\d.%]\d)"
)
STEP = re.compile(r"(?i)(?<![a-z])(?:step|batch|iter|iteration) {0,2}[:#=\[(]?\s{0,3}(\d{1,9})")
# A value and its unit; the name stands before, up to the end of the value before it.
GIVEN = re.compile(
    rf"\s{{0,4}}[:=]\s{{0,8}}({VALUE})\s?(%|seconds|secs|sec|minutes|mins|min|ms|s)?(?![A-Za-z])"
)
NOT_NAME = re.compile(r"[^\w@ -]+")
TOOK = re.compile(rf"(?i)\b(?:took|in)[ :]{{1,3}}({VALUE}) ?(seconds|secs|sec|s|minutes|min)\b")
UNITS = {"ms": 1e-3, "minutes": 60.0, "mins": 60.0, "min": 60.0}
LOSSES = {"loss", "cross entropy", "cost"}
ACCURACIES = {"accuracy", "acc", "acc 1", "acc1", "acc@1", "top1", "top 1 accuracy"}
TRAIN = {"", "train", "training", "avg", "average", "mean"}
CHECK = {"val", "valid", "validation", "test", "testing", "eval", "evaluation"}
# The widest of the times that a line gives is the epoch's: loading is a part of running.
TIMES = (
    "epoch time",
    "running time",
    "total time",
    "time per epoch",
    "time",
    "elapsed",
    "elapsed time",
    "time taken",
    "duration",
    "training time",
    "train time",
)


def read(line: str) -> Said | None:
    place = EPOCH.search(line)
    if place is None:
        return None
    said: Said = {"epoch": int(place[1])}
    if place[2]:
        said["of"] = int(place[2])
    times = {}
    at = place.end()
    for given in GIVEN.finditer(line, at):
        value, unit = given[1], given[2] or ""
        name = name_of(line[at : given.start()])
        at = given.end()
        if name in TIMES and name not in times:
            times[name] = printed(value, UNITS.get(unit, 1.0))
            continue
        for field in fields(name):
            if field == "test_accuracy":
                said.setdefault(field, fraction(value, unit))
                continue
            said.setdefault(field, printed(value, 0.01 if unit == "%" else 1.0))
            if unit == "%":
                said["scaled"] = True
    for name in TIMES:
        if name in times:
            said["seconds"] = times[name]
            break
    else:
        took = TOOK.search(line, place.end())
        if took:
            said["seconds"] = printed(took[1], UNITS.get(took[2].lower(), 1.0))
    if said.keys() <= {"epoch", "of"}:
        return None
    step = STEP.search(line)
    if step:
        said["step"] = int(step[1])
    return said


def name_of(text: str) -> str:
    """The words right before a value: "| Training_Loss" is "training loss"."""
    name = NOT_NAME.split(text[-60:])[-1]
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())


def fields(name: str) -> tuple[str, ...]:
    """The fields that a name stands for; "test" is a check after each epoch and the test, too."""
    for kinds, kind in ((LOSSES, "loss"), (ACCURACIES, "accuracy")):
        for word in kinds:
            if name != word and not name.endswith(" " + word):
                continue
            before = name[: -len(word)].strip()
            if before in TRAIN:
                return (f"train_{kind}",)
            if before in CHECK:
                return (f"val_{kind}", f"test_{kind}") if before[:4] == "test" else (f"val_{kind}",)
    return ()


READER = Reader("plain", ("poch", "POCH"), read)
