"""Check the network and its parameters (3.3), and its output (3.4)."""

import sys
from collections.abc import Mapping
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

PARAMETERS = {"ResNet50V2": 23_585_290, "MobileNet": 3_239_114}
CLASSES = "That is the network for 1,000 classes. Which argument of the table says how many?"


def no_download(*_: Any, **__: Any) -> None:
    expected = "weights=None: nothing is fetched from the internet"
    advice = "A compute node has no internet: the job would wait until its time is over."
    raise CheckFailed(expected, 'weights="imagenet"', advice)


@exercise("3.3")
def check_3_3(program: Any) -> str:
    """ResNet50V2 with 10 classes has 23,585,290 parameters, whatever the size of the images."""
    fetches = sys.modules[program.keras.utils.get_file.__module__]
    for name, size in (("MobileNet", 32), ("ResNet50V2", 40)):
        with mock.patch.object(fetches, "get_file", no_download):
            model = program.build_model(name, size)
        if not hasattr(model, "count_params"):
            advice = "Call the network and return the result: `return network(…)`."
            raise CheckFailed("build_model returns a Keras model", shown(model), advice)
        found = tuple(model.input_shape), tuple(model.output_shape)
        if found != ((None, size, size, 3), (None, 10)):
            advice = "Which argument of the table says how large the images are?"
            if len(found[1]) == 4:
                advice = "The last layers are missing: leave include_top alone."
            elif found[1] == (None, 1000):
                advice = CLASSES
            wanted = f"(None, {size}, {size}, 3) to (None, 10)"
            raise CheckFailed(wanted, f"{found[0]} to {found[1]}", advice)
        if (count := model.count_params()) != PARAMETERS[name]:
            advice = "Use the network that `name` names, and add no layers."
            raise CheckFailed(f"{name}: {PARAMETERS[name]:,} parameters", f"{count:,}", advice)
        last = getattr(model.layers[-1], "activation", None)
        if getattr(last, "__name__", "") != "softmax":
            advice = "The loss expects probabilities: leave classifier_activation alone."
            raise CheckFailed("10 probabilities", "scores without softmax", advice)
    return "23,585,290 parameters; for 1,000 classes there would be 2,049 x 990 more."


SHAPES = {
    "a": (None, 10),
    "b": (None, 4, 4, 2048),
    "c": (None, 2048),
    "d": (None, 1, 1, 2048),
}
WHY_SHAPES = {
    "a": "What does the top do? It is there, whatever the size of the image.",
    "b": "How often is the picture halved, and how many features has the last block? "
    "`network.summary()` knows.",
    "c": "What is left of a picture after its average?",
    "d": "The same halvings as in b, from 32.",
}


@exercise("3.4")
def check_3_4(shapes: Function) -> str:
    """Four settings of the constructor give four output shapes, which all begin with None."""
    found = shapes()
    if not isinstance(found, Mapping) or not set(found) >= set(SHAPES):
        advice = 'Return {"a": (None, …), …}, with the lower-case letters of the table.'
        if found is None:
            advice = "Is there a `return` in front of it? A dictionary's `.update` returns None."
        raise CheckFailed("a dictionary a to d", shown(found), advice)
    for letter, right in SHAPES.items():
        given = found[letter]
        if not isinstance(given, tuple | list):
            advice = "Write a tuple, with None for the batch: (None, …)."
            raise CheckFailed(f"{letter}: a shape", shown(given), advice)
        if tuple(given) != right:
            advice = WHY_SHAPES[letter]
            if tuple(given) == right[1:]:
                advice = "The first entry is the batch size, which is not known yet: None."
            raise CheckFailed(f"another shape for {letter}", shown(tuple(given)), advice)
    return "The constructor decides the shape of the output: with or without a top, pooled or not."
