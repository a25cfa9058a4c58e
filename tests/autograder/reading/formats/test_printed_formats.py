"""Tests of each way of printing a training run, sample by sample."""

from pathlib import Path
from typing import Any

import pytest

from autograder.reading.files import read_bytes
from autograder.reading.plain_summary import summary
from autograder.reading.printed_lines import READERS
from autograder.records import Run


def read_one(text: str, name: str = "job.out") -> Run:
    (run,) = read_bytes({name: text.encode()})
    return run


SAMPLES = Path(__file__).parent / "samples"
# What `autograder read` reports about each format. All of them have both epochs.
FORMATS: dict[str, dict[str, Any]] = {
    "keras_tf1_bars": {
        "format": "keras",
        "epoch_seconds": [7.86, 7.02],
        "final_train_accuracy": 0.97,
        "final_val_accuracy": 0.97,
        "final_train_loss": 0.1,
    },
    "keras_tf1": {
        "format": "keras",
        "epoch_seconds": [87, 77],
        "final_train_accuracy": 0.4743,
        "final_val_accuracy": 0.5093,
        "final_train_loss": 1.4617,
    },
    "keras_tf2_bars": {
        "format": "keras",
        "epoch_seconds": [12, 10],
        "final_train_accuracy": 0.3,
        "final_val_accuracy": 0.4,
        "final_train_loss": 2.0,
    },
    "keras_tf2": {
        "format": "keras",
        "epoch_seconds": [14, 0.067],
        "final_train_accuracy": 0.96,
        "final_val_accuracy": 0.97,
        "final_train_loss": 0.12,
        "test_accuracy": None,
    },
    "keras3_bars": {
        "format": "keras",
        "epoch_seconds": [6, 5],
        "final_train_accuracy": 0.96,
        "final_val_accuracy": 0.97,
        "final_train_loss": 0.11,
    },
    "keras3": {
        "format": "keras",
        "epoch_seconds": [6, 5],
        "final_train_accuracy": 0.96,
        "final_val_accuracy": 0.97,
        "final_train_loss": 0.11,
    },
    "torch_imagenet": {
        "format": "torch-imagenet",
        "outcome": "unknown",  # nothing says that no other epoch follows
        "epoch_seconds": [78.2, 39.1],
        "final_train_accuracy": 0.615,
        "final_val_accuracy": 0.631,
        "best_val_accuracy": 0.631,
        "final_train_loss": 1.1,
    },
    "torch_mnist": {
        "format": "torch-mnist",
        "outcome": "unknown",  # nothing says that no other epoch follows
        "epoch_seconds": [],
        "final_val_accuracy": 0.9871,
        "test_accuracy": 0.9871,
        "final_train_loss": 0.011,
    },
    "torch_tutorial": {
        "format": "torch-tutorial",
        "final_train_accuracy": 0.8279,
        "final_val_accuracy": 0.9216,
        "final_train_loss": 0.4012,
    },
    "lightning_bars": {
        "format": "lightning",
        "epoch_seconds": [12.5, 11.5],
        "final_val_accuracy": 0.96,
        "final_train_loss": 0.1,
    },
    "hf_trainer": {
        "format": "hf-trainer",
        "final_val_accuracy": 0.88,
        "best_val_accuracy": 0.88,
        "final_train_loss": 0.4,
        "throughput": 480.1,
    },
    "timm": {
        "format": "timm",
        "outcome": "unknown",  # nothing says that no other epoch follows
        "epoch_seconds": [21.56, 19.6],
        "final_val_accuracy": 0.533,
        "final_train_loss": 1.7,
        "throughput": 2560.0,
    },
    "plain": {
        "format": "plain",
        "epoch_seconds": [12.4, 11.9],
        "final_val_accuracy": 0.93,
        "test_accuracy": 0.931,
        "final_train_loss": 0.25,
    },
    "table": {
        "format": "table",
        "outcome": "unknown",  # nothing says that no other epoch follows
        "epoch_seconds": [12, 11],
        "final_train_accuracy": None,
        "final_val_accuracy": 0.914,
        "final_train_loss": 0.312,
    },
    "plain_blocks": {
        "format": "plain",
        "epoch_seconds": [87.0598, 84.8512],
        "final_train_accuracy": None,
        "final_val_accuracy": 0.5167,
        "test_accuracy": 0.5167,
        "final_train_loss": 1.3531,
    },
    "plain_by_blank": {
        "format": "plain",
        "epoch_seconds": [65, 62],
        "final_train_accuracy": 0.88,
        "final_val_accuracy": 0.86,
        "final_train_loss": 0.41,
    },
    "plain_counts_bars": {
        "format": "plain",
        "epoch_seconds": [],
        "final_train_accuracy": 0.505,
        "final_val_accuracy": 0.55,
        "final_train_loss": 1.5,
    },
    "plain_json": {
        "format": "plain",
        "epoch_seconds": [12.25, 11.5],
        "final_train_accuracy": 0.825,
        "final_val_accuracy": 0.81,
        "test_accuracy": 0.805,
        "final_train_loss": 0.52,
    },
    "plain_logger": {
        "format": "plain",
        "epoch_seconds": [7200, None],
        "final_train_accuracy": None,
        "final_val_accuracy": 0.645,
        "final_train_loss": 1.0,
    },
}


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_bytes().decode()


def test_every_sample_is_tested():
    assert {path.stem for path in SAMPLES.iterdir()} == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_format_is_read(name):
    text, says = sample(name), FORMATS[name]
    read = summary(read_one(text))
    assert read["outcome"] == says.get("outcome", "completed")
    assert read["epochs"] == 2
    assert read["problems"] == []
    for field, value in says.items():
        assert read[field] == pytest.approx(value), field


# The rows of a table do not say how many rows there should be.
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "table"])
def test_a_format_cut_in_its_first_half_is_incomplete(name):
    text = sample(name)
    read = summary(read_one(text[: len(text) // 3]))
    assert read["outcome"] == "incomplete"


@pytest.mark.parametrize("name", FORMATS)
def test_two_runs_one_after_the_other_are_two_runs(name):
    text, says = sample(name), FORMATS[name]
    runs = [summary(run) for run in read_bytes({"job.out": (text + text).encode()})]
    assert [run["epochs"] for run in runs] == [2, 2]
    assert [run["outcome"] for run in runs] == [says.get("outcome", "completed")] * 2
    assert runs[0]["final_train_loss"] == runs[1]["final_train_loss"] == says["final_train_loss"]


PREFIXES = {
    "srun -l": "{}: ",
    "srun -l, many tasks": "{:>3}: ",
    "Open MPI": "[1,{}]<stdout>:",
    "Open MPI 5": "[1,{}]<stdout>: ",
    "horovodrun": "[{}]<stdout>:",
    "torchrun": "[default{}]:",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("name", [name for name in FORMATS if not name.endswith("bars")])
def test_labelled_ranks_are_one_run(name, prefix):
    """All ranks print everything, taking turns line by line."""
    text, says = sample(name), FORMATS[name]
    labelled = "".join(
        prefix.format(rank) + line + "\n" for line in text.split("\n") for rank in range(3)
    )
    read = summary(read_one(labelled))
    assert (read["workers"], read["epochs"]) == (3, 2)
    assert read["outcome"] == says.get("outcome", "completed")
    for field, value in says.items():
        assert read[field] == pytest.approx(value), field


@pytest.mark.parametrize("name", FORMATS)
def test_ranks_without_labels_are_one_run(name):
    text, says = sample(name), FORMATS[name]
    mixed = "".join((line + "\n") * 2 for line in text.split("\n"))
    read = summary(read_one(mixed))
    assert (read["epochs"], read["outcome"]) == (2, says.get("outcome", "completed"))
    assert read["final_train_loss"] == says["final_train_loss"]


def test_rounding_is_kept():
    rounded, finer = (
        read_one(sample(name)).epochs[0].seconds for name in ("keras_tf1", "keras_tf1_bars")
    )
    assert (rounded.value, rounded.half_width) == (87, 0.5)
    assert (finer.value, finer.half_width) == pytest.approx((7.86, 0.03))
    accuracy = read_one(sample("keras_tf1")).epochs[0].train_accuracy
    assert accuracy.half_width == pytest.approx(0.00005)
    percent = read_one(sample("plain")).epochs[0].val_accuracy
    assert (percent.value, percent.half_width) == pytest.approx((0.885, 0.0005))


def test_numbers_know_their_line():
    run = read_one(sample("keras_tf1"))
    assert run.epochs[1].seconds.where.line == 4
    assert run.epochs[1].where.file == "job.out"


def test_a_loss_that_is_no_number_is_a_problem_and_no_number():
    run = read_one(sample("keras_tf1").replace("loss: 1.4617", "loss: nan", 1))
    assert run.epochs[1].train_loss is None
    assert run.epochs[1].train_accuracy is not None
    assert any("diverged" in problem.reason for problem in run.problems)


def test_an_accuracy_that_cannot_be_is_a_problem_and_no_number():
    run = read_one(sample("plain").replace("93.0%", "193.0%"))
    assert run.epochs[1].val_accuracy is None
    assert any("between 0 and 1" in problem.reason for problem in run.problems)


def test_the_documentation_has_a_row_for_each_format():
    page = (Path(__file__).parents[4] / "docs/formats-read.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert {reader.format for reader in READERS} <= {row.split("`")[1] for row in rows}
    formats = page.split("## Formats")[1].split("\n\n")
    table = next(block for block in formats if block.startswith("| `format`"))
    # A bar that does not end a cell is escaped with a backslash.
    assert {row.replace("\\|", "").count("|") for row in table.splitlines()} == {4}
