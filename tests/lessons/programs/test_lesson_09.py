"""Lesson 09's sweep on the real MNIST (COURSE_DATA_STRICT): what the lesson says."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

from autograder.reading.files import read_files

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).parents[3] / "solutions" / "09_learning_rate" / "train.py"


def sweep(folder, *arguments, ranks=1, program=PROGRAM):
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


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    found = {}
    for run in sweep(tmp_path_factory.mktemp("sweep")):
        assert run.outcome == "completed"
        key = (run.header["workers"], run.header["rule"])
        found.setdefault(key, []).append(run.test_accuracy.value)
    return {key: mean(values) for key, values in found.items()}


def test_up_to_eight_workers_the_linear_rule_keeps_the_accuracy(accuracies):
    base = accuracies[1, "same"]
    assert accuracies[8, "linear"] >= base - 0.02
    assert accuracies[8, "same"] < accuracies[8, "sqrt"] < accuracies[8, "linear"]


def test_at_sixteen_it_needs_a_warm_up(accuracies, tmp_path):
    assert accuracies[16, "linear"] < 0.7
    options = ["--workers", "16", "--rules", "linear", "--warmup", "1", "--decay", "cosine"]
    for run in sweep(tmp_path, *options):
        assert run.test_accuracy.value >= accuracies[16, "linear"] + 0.1


KEEPING = """
import sys
import numpy as np
from lessons.toolkit.record import Record
sys.path.insert(0, {folder!r})
import train
end = Record.end
def keep(record, params, **facts):
    if not train.ml_comm.get_rank():
        np.save("params.npy", np.concatenate([param.ravel() for param in params]))
    end(record, params=params, **facts)
Record.end = keep
train.main()
"""


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, 3])
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
