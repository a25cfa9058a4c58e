"""The formats that are always read: Keras' lines, and the templates of presets.yaml."""

from pathlib import Path
from typing import Any

import pytest

from autograder.reading.formats import presets, template
from autograder.reading.plain_summary import summary
from autograder.records import Run
from tests.autograder.in_memory import read_bytes

SAMPLES = Path(__file__).parent / "samples"
KERAS_FACTS = "epoch_seconds", "final_train_accuracy", "final_val_accuracy", "final_train_loss"
KERAS_SAMPLES = {
    "keras_tf1_bars": ([8, 7], 0.97, 0.97, 0.1),
    "keras_tf1": ([87, 77], 0.4743, 0.5093, 1.4617),
    "keras_tf2_bars": ([12, 10], 0.3, 0.4, 2.0),
    "keras_tf2": ([14, 0.067], 0.96, 0.97, 0.12),
    "keras3_bars": ([6, 5], 0.96, 0.97, 0.11),
    "keras3": ([6, 5], 0.96, 0.97, 0.11),
}
# The line of `evaluate` does not name its data.
KERAS: dict[str, dict[str, Any]] = {
    name: dict(zip(KERAS_FACTS, facts, strict=True), test_accuracy=None, outcome="completed")
    for name, facts in KERAS_SAMPLES.items()
}
PRESETS = {preset["name"]: preset for preset in presets.data()}
# Presets whose example is one run with epochs.
OF_EPOCHS = [n for n, preset in PRESETS.items() if preset["reads"].get("epochs", 1) is not None]


def sample(name: str) -> str:
    if name in PRESETS:
        return PRESETS[name]["example"]
    return (SAMPLES / f"{name}.txt").read_bytes().decode()


def says(name: str) -> dict[str, Any]:
    return PRESETS[name]["reads"] if name in PRESETS else KERAS[name]


def read_one(text: str) -> Run:
    (run,) = read_bytes({"job.out": text.encode()})
    return run


def check(run: Run, name: str) -> None:
    read = summary(run)
    for fact, value in says(name).items():
        assert read[fact] == pytest.approx(value), fact


@pytest.mark.parametrize("name", [*KERAS, *PRESETS])
def test_an_example_is_read(name):
    run = read_one(sample(name))
    check(run, name)
    if name in OF_EPOCHS or name in KERAS:
        assert run.format == ("keras" if name in KERAS else name)
        assert len(run.epochs) > 1


@pytest.mark.parametrize("name", PRESETS)
def test_each_template_has_a_line_in_its_example(name):
    begin = template.ANYWHERE if PRESETS[name].get("anywhere") else template.AT_BEGIN
    lines = sample(name).splitlines()
    for source in PRESETS[name]["templates"]:
        assert any(template.load(source, begin).match(line) for line in lines), source


@pytest.mark.parametrize("name", [*KERAS, *OF_EPOCHS])
def test_an_example_cut_in_its_first_half_is_not_complete(name):
    text = sample(name)
    assert read_one(text[: len(text) // 3]).outcome in ("incomplete", "unknown")


@pytest.mark.parametrize("name", [*KERAS, *OF_EPOCHS])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_ranks_without_labels_are_not_read(name, shift):
    lines = sample(name).rstrip("\n").split("\n")
    late = [None] * shift + lines
    pairs = zip([*lines, *[None] * shift], late, strict=True)
    text = "".join(line + "\n" for pair in pairs for line in pair if line is not None)
    alone = read_one(sample(name))
    for run in read_bytes({"job.out": text.encode()}):
        for epoch in run.epochs:
            same = alone.epochs[epoch.number - 1]
            assert epoch.train_loss is None or epoch.train_loss.value == same.train_loss.value


def test_rounding_is_kept():
    rounded, finer = (epoch.seconds for epoch in read_one(sample("keras_tf2")).epochs)
    assert (rounded.value, rounded.half_width) == (14, 0.5)
    assert (finer.value, finer.half_width) == pytest.approx((0.067, 0.0005))
    accuracy = read_one(sample("keras_tf1")).epochs[0].train_accuracy
    assert accuracy.half_width == pytest.approx(0.00005)


def test_a_loss_that_is_no_number_is_a_problem_and_no_number():
    run = read_one(sample("keras_tf1").replace("loss: 1.4617", "loss: nan", 1))
    assert run.epochs[1].train_loss is None
    assert run.epochs[1].train_accuracy is not None
    assert any("diverged" in problem.title for problem in run.problems)
