"""Lines that programs and job files print around a record are found and assigned to its run."""

import pytest

from autograder.reading.files import read_bytes
from tests.autograder.make_record import make_record

FACTS = ["site: snellius (slurm)", "job: 1234 02_keras", "ranks: 2", "gpus on this node: none"]


def beside(lines):
    runs = read_bytes({"a.out": ("\n".join(lines) + "\n").encode()})
    return [run.beside for run in runs if run.format == "record"]


def after_first_epoch(*printed, **record):
    lines = make_record(**record)
    at = next(n for n, line in enumerate(lines) if '"epoch_stop"' in line)
    return [*lines[: at + 1], *printed, *lines[at + 1 :]]


RANK_1 = next(line for line in make_record(size=2) if '"rank":1,' in line)

# Lines after the record's lines on the first epoch, and the loss, accuracy, steps and seconds read.
PRINTED = {
    "Keras 2": (["469/469 - 3s - loss: 0.42 - accuracy: 0.87 - 3s/epoch - 30ms/step"],
        (0.42, 0.87, 469, 3.0)),
    "Keras 2, a short epoch": (["9/9 - 1s - loss: 0.42 - accuracy: 0.87 - 791ms/epoch - 9ms/step"],
        (0.42, 0.87, 9, 0.791)),
    "Keras 3": (["469/469 - 8s - 4ms/step - accuracy: 0.87 - loss: 0.42"], (0.42, 0.87, 469, 8.0)),
    "a bar": (["1/469 [..] - ETA: 3s - loss: 2.3\r469/469 [====] - 3s 6ms/step - loss: 0.42"],
        (0.42, None, 469, 3.0)),
    "NumPy's loop": (["Epoch 1: loss 0.4200, accuracy 0.8700"], (0.42, 0.87, None, None)),
    "PyTorch's loop": (["Epoch 1/4: 2.34 s, {'loss': 0.42, 'accuracy': 0.87}"],
        (0.42, 0.87, None, 2.34)),
    "rank 0 by its label": (["1: Epoch 1: loss 9.9", "0: Epoch 1: loss 0.4200"],
        (0.42, None, None, None)),
    "behind another rank's record": ([RANK_1, "Epoch 1: loss 0.4200"], (0.42, None, None, None)),
    "of another epoch": (["Epoch 2: loss 0.4200"], None),
    "something else": (["lossy compression: 3", "no loss"], None),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "numbers"), PRINTED.values(), ids=PRINTED)
def test_an_epochs_printed_line(lines, numbers):
    [found] = beside(after_first_epoch(*lines))
    read = []
    for epoch in found.epochs:
        told = (epoch.train_loss, epoch.train_accuracy, epoch.seconds)
        loss, accuracy, seconds = (number and number.value for number in told)
        read.append((loss, accuracy, epoch.steps, seconds))
    assert read == ([numbers] if numbers else [])
    assert all(epoch.where.line > 2 for epoch in found.epochs)


def test_the_test_belongs_to_the_run_whose_end_follows():
    first, second = make_record(run="aaaaaaaa"), make_record(run="bbbbbbbb")
    test = ["Test loss: 0.0800", "Test accuracy: 0.9780"]
    found = beside([*first[:-1], *test, first[-1], *second])
    assert [(b.test_loss and b.test_loss.value) for b in found] == [0.08, None]
    assert [(b.test_accuracy and b.test_accuracy.value) for b in found] == [0.978, None]


def test_a_sweeps_line_belongs_to_the_run_before():
    lines = []
    for number, accuracy in enumerate((0.91, 0.92)):
        lines += make_record(run=f"{number:08x}")
        lines.append(f"N   8, linear, seed {number}: test accuracy {accuracy:.4f}")
    assert [b.test_accuracy.value for b in beside(lines)] == [0.91, 0.92]


def test_a_jobs_facts_belong_to_the_runs_behind_them():
    other = [line.replace("1234", "5678") for line in FACTS]
    runs = [make_record(run=f"{number:08x}") for number in range(3)]
    found = beside([*runs[0], *FACTS, *runs[1], *other, *runs[2]])
    assert [b.job.get("job") for b in found] == [None, "1234 02_keras", "5678 02_keras"]
    assert found[1].job["gpus on this node"] == "none"
