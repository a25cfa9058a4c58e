"""Tests of lesson 09's sweep: what the lesson says about the real MNIST."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import mean
from unittest import mock

import numpy as np
import pytest
from solution_programs import program

from autograder.reading.files import read_files
from tests.lessons.planted.judged import runs_of

LESSON = Path(__file__).parents[3] / "solutions" / "09_learning_rate"


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
sys.path.insert(0, {folder!r})
import train
def keep(params, x, labels, evaluate=train.evaluate):
    if not train.ml_comm.get_rank():
        np.save("params.npy", np.concatenate([param.ravel() for param in params]))
    return evaluate(params, x, labels)
train.evaluate = keep
train.main()
"""


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.nightly), 3])
def test_the_ranks_that_share_a_batch_end_with_one_rank_s_parameters(tmp_path, ranks):
    options = ["--workers", "6", "--rules", "linear", "--seeds", "1", "--epochs", "1"]
    keeping = tmp_path / "keeping.py"
    keeping.write_text(KEEPING.format(folder=str(LESSON)))
    ended = []
    for number in (1, ranks):
        more = ["--momentum", "0.5", "--train-samples", "1900"]
        [run] = sweep(tmp_path, *options, *more, ranks=number, program=keeping)
        assert run.workers == number
        ended.append(np.load(tmp_path / "params.npy"))
    np.testing.assert_allclose(ended[1], ended[0], atol=2e-6)


def test_the_probe_runs_beside_the_program(tmp_path):
    command = [sys.executable, str(LESSON / "probe.py")]
    with (tmp_path / "job.out").open("w") as sink:
        subprocess.run(command, cwd=tmp_path, stdout=sink, check=True, timeout=60)
    [run] = read_files([tmp_path / "job.out"])
    assert {"train.py", "rates.py", "ml_comm.py", "network.py"} <= run.program.files.keys()
    found = {measure["name"]: measure["value"] for measure in run.measures}
    assert found.keys() == {"update_error", "lars_error", "rate_error"}
    assert max(found.values()) == 0


def fails(*_):
    raise NotImplementedError("Exercise 9.3")


def nothing(*_):
    return None


def without_momentum(params, gradients, speeds, lr, momentum):
    for param, gradient in zip(params, gradients, strict=True):
        param -= lr * gradient


def forgets_the_speed(params, gradients, speeds, lr, momentum):
    for param, gradient, speed in zip(params, gradients, speeds, strict=True):
        param -= lr * (momentum * speed + gradient)


def leaves_fresh_biases(params, gradients, trust):
    return [
        g * trust * np.linalg.norm(p) / (np.linalg.norm(g) or 1)
        for p, g in zip(params, gradients, strict=True)
    ]


def knows_the_peak_alone(step, base, peak, warmup, total, decay):
    return peak


def at_a_rate_of_its_own(params, gradients, speeds, lr, momentum):
    for param, gradient, speed in zip(params, gradients, speeds, strict=True):
        speed *= 0.9
        speed += gradient
        param -= 0.1 * speed


def of_the_first_array(params, gradients, speeds, lr, momentum):
    speeds[0] *= momentum
    speeds[0] += gradients[0]
    params[0] -= lr * speeds[0]


def with_a_trust_of_its_own(params, gradients, trust):
    return [
        g * 0.01 * np.linalg.norm(p) / np.linalg.norm(g) if p.any() and g.any() else g
        for p, g in zip(params, gradients, strict=True)
    ]


UPDATES = (fails, nothing, without_momentum, forgets_the_speed, at_a_rate_of_its_own)
LARS = (fails, nothing, lambda p, g, t: g, leaves_fresh_biases, with_a_trust_of_its_own)
WRONG = {
    ("update", "update_error"): (*UPDATES, of_the_first_array),
    ("lars", "lars_error"): LARS,
    ("lr_at", "rate_error"): (fails, nothing, knows_the_peak_alone),
}


@pytest.mark.parametrize(("function", "measure"), WRONG)
def test_the_probe_finds_a_function_that_leaves_something_out(function, measure, monkeypatch):
    monkeypatch.syspath_prepend(LESSON)
    with mock.patch.dict(sys.modules):
        for name in ("rates", "train", "ml_comm", "network"):
            sys.modules.pop(name, None)
        probe = program("09_learning_rate", "probe")
    for wrong in WRONG[function, measure]:
        monkeypatch.setattr(probe.rates, function, wrong)
        assert dict(probe.formulas())[measure] == 1
