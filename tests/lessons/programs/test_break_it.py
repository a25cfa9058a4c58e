"""Tests of other faults in the pages, with real runs. (break_it.py has those of the lessons.)"""

import subprocess
import sys

import pytest
from real_runs import ROOT, environment

from autograder.reading.files import read_files
from tests.lessons.programs.faults import TRACES

# What pages say of PyTorch, TensorFlow and MNIST changes only with their versions.
pytestmark = [pytest.mark.slow, pytest.mark.ranks, pytest.mark.nightly]
SOLUTIONS = ROOT / "solutions"


def started(command, folder, seconds=300, **env):
    """Return what the command printed; it has to succeed."""
    done = subprocess.run(
        ["timeout", str(seconds), *map(str, command)],
        cwd=folder, env=environment(OPENBLAS_NUM_THREADS="1", **env),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def records(command, folder, **env):
    done = started(command, folder, **env)
    (folder / "job.out").write_text(done.stdout)
    return read_files([folder / "job.out"])


# One network in a process: the collectives of its devices know the sizes of one.
BATCH_NORMALISATION = f"""
import sys
sys.path.insert(0, {str(SOLUTIONS / "05_mirrored")!r})
import numpy as np
import train
tf, keras = train.tf, train.keras
images = np.random.default_rng(1).random((32, 32, 32, 3), np.float32)
images *= np.linspace(0.2, 1, 32, dtype=np.float32)[:, None, None, None]
two = tf.distribute.MirroredStrategy(train.devices(2))
for strategy in (tf.distribute.get_strategy(), two):
    with strategy.scope():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([
            keras.layers.Conv2D(8, 3, strides=2, input_shape=(32, 32, 3)),
            keras.layers.BatchNormalization(),
            keras.layers.Flatten(),
            keras.layers.Dense(10, activation="softmax")])
        model.compile("sgd", "sparse_categorical_crossentropy")
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(32) % 10)).batch(32)
    print("BN", model.fit(data, verbose=0).history["loss"][0])
"""


def test_batch_normalisation_by_replica_is_another_training(tmp_path):
    printed = started([sys.executable, "-c", BATCH_NORMALISATION], tmp_path).stdout.splitlines()
    alone, mirrored = [float(line.split()[1]) for line in printed if line.startswith("BN ")]
    assert abs(alone - mirrored) > 0.01


def test_a_sum_is_as_many_times_the_rate_as_there_are_ranks(tmp_path):
    """Check the effect of such a rate. test_lesson_06 checks that sum and rate are equal."""
    told = {4: 0.922, 8: 0.909, 16: 0.20}
    for ranks, accuracy in told.items():
        words = ["--epochs", "2", "--train-samples", "12800", "--lr", 0.1 * ranks]
        program = SOLUTIONS / "06_allreduce" / "train.py"
        [found] = records([sys.executable, program, *words], tmp_path)
        assert TRACES["accuracy"](found) == pytest.approx(accuracy, abs=0.1 if ranks > 8 else 0.01)


@pytest.fixture(scope="module")
def until_a_loss(tmp_path_factory):
    """Return workers -> (training loss, test accuracy) per epoch until 0.15, of one seed."""
    folder = tmp_path_factory.mktemp("09")
    words = ["--workers", "1", "16", "--rules", "sqrt", "--until", "0.15", "--epochs", "20"]
    words += ["--train-samples", "12800", "--seeds", "1"]
    found = {}
    for each in records(
        [sys.executable, SOLUTIONS / "09_learning_rate" / "train.py", *words], folder
    ):
        losses = [m["value"] for m in each.measures if m["name"] == "train_loss"]
        tests = [epoch.val_accuracy.value for epoch in each.epochs]
        found[each.header["workers"]] = list(zip(losses, tests, strict=True))
    return found


def test_a_large_batch_needs_more_epochs(until_a_loss):
    first = {n: next(i for i, (_, test) in enumerate(path, 1) if test >= 0.93)
             for n, path in until_a_loss.items()}  # fmt: skip
    assert 3 <= first[1] <= 5
    assert 9 <= first[16] <= 11


def test_a_gap_closes_when_one_trains_on(until_a_loss):
    epochs = min(map(len, until_a_loss.values()))
    small, large = (until_a_loss[n][epochs - 1][1] for n in (1, 16))
    assert small - large > 0.015, "at equal epochs: a gap, it seems"
    (loss_1, small), (loss_16, large) = (until_a_loss[n][-1] for n in (1, 16))
    assert max(loss_1, loss_16) <= 0.15
    assert small - large < 0.01, "at equal training loss: none"


def test_one_seed_makes_no_rule(tmp_path):
    words = ["--workers", "16", "--rules", "linear", "--seeds", *"12345"]
    words += ["--train-samples", "12800"]
    found = records([sys.executable, SOLUTIONS / "09_learning_rate" / "train.py", *words], tmp_path)
    accuracies = [TRACES["accuracy"](run) for run in found]
    assert max(accuracies) < 0.6
    assert max(accuracies) - min(accuracies) > 0.1, "and one worker's seeds: 0.938 to 0.943"
