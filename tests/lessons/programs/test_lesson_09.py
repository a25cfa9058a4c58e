"""Tests of lesson 09's sweep: what the lesson says about the real MNIST."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

from autograder.reading.files import read_files
from tests.lessons.planted.judged import runs_of

PROGRAM = Path(__file__).parents[3] / "solutions" / "09_learning_rate" / "train.py"


def sweep(folder, *arguments, ranks, program):
    launcher = ["timeout", "300", "mpirun", "--allow-run-as-root", "--oversubscribe", "-np"]
    command = [*launcher, str(ranks), sys.executable, "-u", str(program)]
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environ["COURSE_DATA_STRICT"] = "1"
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    output = folder / f"{len(list(folder.iterdir()))}.out"
    with output.open("w") as sink:
        command += ["--train-samples", "12800", *arguments]
        subprocess.run(command, cwd=folder, env=environ, stdout=sink, check=True)
    return read_files([output])


def accuracies(number, job):
    """Return (workers, rule) -> mean accuracy of the seeds, from a real run's kept output."""
    found = {}
    for run in runs_of(number, job):
        assert run.outcome == "completed"
        key = (run.header["workers"], run.header["rule"])
        found.setdefault(key, []).append(run.test_accuracy.value)
    return {key: mean(values) for key, values in found.items()}


def test_up_to_eight_workers_the_linear_rule_keeps_the_accuracy():
    found = accuracies("09", "the sweep")
    assert found[8, "linear"] >= found[1, "same"] - 0.02
    assert found[8, "same"] < found[8, "sqrt"] < found[8, "linear"]


def test_at_sixteen_it_needs_a_warm_up():
    without = accuracies("09", "the sweep")[16, "linear"]
    assert without < 0.7
    runs = runs_of("09", "sixteen workers with a warm-up")
    assert len(runs) == 2
    assert all(run.test_accuracy.value >= without + 0.1 for run in runs)


KEEPING = """
import sys
import numpy as np
from lessons.toolkit.record import Record
sys.path.insert(0, {folder!r})
import train
trained = Record.trained
def keep(record, params, gather):
    if not train.ml_comm.get_rank():
        np.save("params.npy", np.concatenate([param.ravel() for param in params]))
    trained(record, params, gather)
Record.trained = keep
train.main()
"""


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.nightly), 3])
def test_the_ranks_that_share_a_batch_end_with_one_rank_s_parameters(tmp_path, ranks):
    options = ["--workers", "6", "--rules", "linear", "--seeds", "1", "--epochs", "1"]
    program = tmp_path / "keeping.py"
    program.write_text(KEEPING.format(folder=str(PROGRAM.parent)))
    ended = []
    for number in (1, ranks):
        more = ["--momentum", "0.5", "--train-samples", "1900"]
        [run] = sweep(tmp_path, *options, *more, ranks=number, program=program)
        assert run.workers == number
        ended.append(np.load(tmp_path / "params.npy"))
    np.testing.assert_allclose(ended[1], ended[0], atol=2e-6)
