"""The formats that are always read: Keras' lines, and the templates in presets.yaml."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder import data_files
from autograder.reading.formats import template
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
FILE = Path(__file__).parents[1] / "presets.yaml"


@lru_cache(maxsize=1)
def data() -> list[dict[str, Any]]:
    return data_files.load(FILE)


@lru_cache(maxsize=1)
def readers() -> tuple[Reader, ...]:
    """Return the readers in the order of trust, for lines that several of them understand.

    Most templates match only at the beginning of a line, so that other words before them, as in
    `best test accuracy: 0.9`, are not overlooked.
    """
    presets = []
    for preset in data():
        begin = template.ANYWHERE if preset.get("anywhere") else template.AT_BEGIN
        presets.append(template.load_reader(preset["name"], preset["templates"], begin))
    return (READER, *presets)
