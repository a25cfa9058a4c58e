"""Tests of lesson 09's schedule and LARS in the Horovod program, on two real ranks."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from real_runs import ROOT, run_together
from solution_programs import program

LESSON = ROOT / "solutions" / "09_learning_rate"
rates = program("09_learning_rate", "rates")
STEPS = Path(__file__).parents[1] / "ranks" / "lars_steps.py"
sys.path.insert(0, str(STEPS.parent))
import lars_steps  # noqa: E402


def by_formula(trust, gradients_of, steps, lr_of):
    """Apply rates.lars and rates.update to the mean gradient of two ranks, in float64."""
    params = [np.array(part) for part in lars_steps.START]
    speeds = [np.zeros_like(part) for part in params]
    path = []
    for step in range(steps):
        pairs = zip(gradients_of(step, 0), gradients_of(step, 1), strict=True)
        mean = [(a + b) / 2 for a, b in pairs]
        mean = rates.lars(params, mean, trust) if trust else mean
        rates.update(params, mean, speeds, lr_of(step), 0.9)
        path.append([part.copy() for part in params])
    return path


@pytest.fixture(scope="module")
def on_two_ranks(tmp_path_factory):
    """Return the paths that STEPS prints, and the record of the program."""
    words = "--epochs 3 --warmup 1 --decay cosine --train-samples 1601 --lars 0.02 --momentum 0.9"
    steps, folder = tmp_path_factory.mktemp("steps"), tmp_path_factory.mktemp("program")
    starts = [(steps, STEPS, []), (folder, LESSON / "train_horovod.py", words.split())]
    _, record = run_together(2, starts)
    return json.loads((steps / "job.out").read_text()), record


@pytest.mark.slow
@pytest.mark.ranks
def test_lars_as_an_optimizer_follows_its_formula(on_two_ranks):
    """Check two steps by hand; then six with different gradients on the ranks and another rate."""
    found, _ = on_two_ranks
    # |w| = 5 and |g| = 10: trust 0.01 makes 0.005 of each gradient; zero biases go unscaled, and
    # in the second step, with |b| = 0.2236 and |g| = 2.236, 0.001 of theirs.
    (w, b), (w2, b2) = found["hand"]
    np.testing.assert_allclose(w, [[3, -0.003], [-0.004, 4]], atol=1e-6)
    np.testing.assert_allclose(b, [-0.1, -0.2], atol=1e-6)
    np.testing.assert_allclose(w2, [[3, -0.0087], [-0.0116, 4]], atol=1e-6)
    np.testing.assert_allclose(b2, [-0.1901, -0.3802], atol=1e-6)
    for name, trust in {"lars": 0.02, "sgd": 0.0}.items():
        right = by_formula(trust, lars_steps.own_gradients, 6, lars_steps.rate)
        for one, other in zip(found[name], right, strict=True):
            for values, expected in zip(one, other, strict=True):
                np.testing.assert_allclose(values, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.slow
@pytest.mark.ranks
def test_the_rate_of_the_last_steps_is_the_schedules(on_two_ranks):
    _, found = on_two_ranks
    steps = 3 * 25  # epochs of 800 of the 1,601 images for each rank, in batches of 32
    assert [epoch.steps for epoch in found.epochs] == [25, 25, 25]
    assert {epoch.unique_samples for epoch in found.epochs} == {1600}
    told = [epoch.lr for epoch in found.epochs]
    right = [rates.lr_at(step, 0.1, 0.2, 25, steps, "cosine") for step in (24, 49, 74)]
    np.testing.assert_allclose(told, right, rtol=1e-6, atol=1e-9)
    assert found.end["param_spread"] == 0.0
    assert found.header["lr"] == pytest.approx(0.2)
    assert found.header["optimizer"] == "lars"
