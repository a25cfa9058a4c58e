"""Read the output of Keras: TF 1, TF 2 with verbose=1 or 2, and Keras 3.

Epoch 3/16
 - 87s - loss: 1.7761 - acc: 0.3480 - val_loss: 1.4954 - val_acc: 0.4629
60000/60000 [==============================] - 8s 131us/sample - loss: 0.2 - acc: 0.93
469/469 [==============================] - 14s 29ms/step - loss: 0.2 - accuracy: 0.93
469/469 - 14s - loss: 0.2 - accuracy: 0.93 - 14s/epoch - 29ms/step
469/469 ━━━━━━━━━━━━━━━━━━━━ 14s 29ms/step - accuracy: 0.93 - loss: 0.2
469/469 - 14s - 29ms/step - accuracy: 0.93 - loss: 0.2
"""

import re

from autograder.reading.line_facts import EpochNumber, EpochNumbers, LineFacts, Reader
from autograder.reading.printed_numbers import UNITS, VALUE, printed
from autograder.records import Number

HEADER = re.compile(r"(?:^|\s)Epoch (\d{1,6})/(\d{1,6})\s*$")
RESULT = re.compile(
    r"(?:(?:^|[^\d/])(?P<at>\d{1,12})/(?P<of>\d{1,12}) (?:\[[=>.]{1,60}\] |[━╺╸-]{3,60} )?)?"
    r"(?P<dash>- ?)?(?<![\d.])(?P<seconds>\d{1,7})s "
    r"(?:(?:- )?\d{1,9}(?:s|ms|us|µs)/(?P<what>step|sample|epoch) )?"
    r"- (?P<metrics>[A-Za-z_].*)"
)
METRIC = re.compile(rf"([A-Za-z_][\w/.-]{{0,80}}): ({VALUE})(?=\s|$)")
WHOLE = re.compile(r" - (?P<per>\d{1,9})(?P<unit>ms|us|µs)/epoch(?= |$)")


def read(line: str) -> LineFacts | None:
    header = HEADER.search(line)
    if header:
        return LineFacts(int(header[1]), of=int(header[2]), opens=True)
    result = RESULT.search(line)
    if result is None or not (result["at"] or result["dash"]):
        return None
    if result["at"] != result["of"]:  # an unfinished bar: its seconds are the remaining ones
        return None
    numbers: EpochNumbers = {"seconds": seconds(result)}
    for printed_name, value in METRIC.findall(result["metrics"]):
        name = metric(printed_name)
        if name and name not in numbers:
            numbers[name] = printed(value)
    if "train_loss" not in numbers:
        return None
    steps = int(result["of"]) if result["of"] and result["what"] != "sample" else None
    return LineFacts(closes=True, steps=steps, numbers=numbers)


def seconds(result: re.Match[str]) -> Number | None:
    """Return an epoch's seconds. The time per step does not include everything."""
    short = WHOLE.search(result["metrics"])
    if short:
        return printed(short["per"], UNITS[short["unit"]])
    return printed(result["seconds"])


def metric(name: str) -> EpochNumber | None:
    checks = name.startswith("val_")
    name = name.removeprefix("val_")
    if name == "loss":
        return "val_loss" if checks else "train_loss"
    if name.endswith(("accuracy", "acc")) and not name.startswith(("top", "sparse_top")):
        return "val_accuracy" if checks else "train_accuracy"
    return None


READER = Reader("keras", ("Epoch ", "loss: "), read)
