"""The formats that are always read: Keras' lines, and the templates in presets.yaml."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from autograder.reading.formats import keras, template
from autograder.reading.line_facts import Reader

FILE = Path(__file__).parents[1] / "presets.yaml"


@lru_cache(maxsize=1)
def data() -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(FILE.read_bytes(), loader)


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
    return (keras.READER, *presets)
