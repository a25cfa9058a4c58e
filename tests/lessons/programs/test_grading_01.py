"""Planted mistakes in lesson 01's program, run for real: the grader names the check."""

import os
import subprocess
import sys

import pytest
from real_runs import ROOT, grade, lost

pytestmark = pytest.mark.slow
PROGRAM = ROOT / "solutions" / "01_learning" / "train.py"
UNEVEN = ("--batch-size", "48")  # does not divide 12,800

# what stands there -> what a student wrote, the arguments, the check that has to see it
BY_CLASS = (
    "    params = start(rng)\n",
    "    order = np.argsort(y_train)\n    x_train, y_train = x_train[order], y_train[order]\n"
    "    params = start(rng)\n",
)
UNSHUFFLED = ("order = rng.permutation(n)", "order = np.arange(n)")
PLANTED = {
    "gradient not divided by the batch": ([("d_scores /= len(labels)", "pass")], (), "accuracy"),
    "uphill": ([("param -= lr", "param += lr")], (), "accuracy"),
    "a new array instead of the old one": (
        [("param -= lr * gradient", "param = param - lr * gradient")], (), "accuracy",
    ),
    "sorted by class and not shuffled": ([BY_CLASS, UNSHUFFLED], (), "accuracy"),
    "wrong size of the net": ([("hidden=64", "hidden=128")], (), "params"),
    "no biases": (
        [("parts = [w1, np.zeros(hidden), w2, np.zeros(outputs)]",
          "parts = [w1, np.zeros(1), w2, np.zeros(1)]"),
         ("d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]",
          "np.zeros(1), hidden.T @ d_scores, np.zeros(1)]")], (), "params",
    ),
    "the last, smaller batch left out": (
        [("range(0, n, batch)", "range(0, n - batch + 1, batch)")], UNEVEN, "steps",
    ),
    "batches that overlap": ([("range(0, n, batch)", "range(0, n, batch // 2)")], (), "steps"),
}  # fmt: skip


def graded(folder, changes=(), arguments=()):
    """The checks that lose points with the output of this program."""
    (folder / "you").mkdir(parents=True)
    source = PROGRAM.read_text(encoding="utf-8")
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    (folder / "train.py").write_text(source, encoding="utf-8")
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = ["timeout", "120", sys.executable, "-u", "train.py", "--train-samples", "12800"]
    with (folder / "you" / "01_numpy_1.out").open("w") as sink:
        subprocess.run(
            [*command, "--epochs", "3", *arguments],
            cwd=folder, env=environ, stdout=sink, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    return lost(grade(folder / "you", "01"))


@pytest.mark.parametrize("arguments", [(), UNEVEN])
def test_the_solution_loses_nothing(arguments, tmp_path):
    assert graded(tmp_path / "run", (), arguments) == set()


@pytest.mark.parametrize("mistake", PLANTED)
def test_the_grader_names_what_a_planted_mistake_broke(mistake, tmp_path):
    changes, arguments, check = PLANTED[mistake]
    assert check in graded(tmp_path / "run", changes, arguments)
