"""Tests of lesson 12's program on real ranks: strong scaling trains like one rank."""

import numpy as np
import pytest
from forked_runs import run_forked
from real_runs import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "12_scaling"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "scaling_steps.py"
SMALL = ("--model", "mlp512", "--batch-size", "48", "--train-samples", "384")
SMALL += ("--test-samples", "200", "--epochs", "2")


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """Return the state after training as a function of the number of ranks."""
    root = tmp_path_factory.mktemp("ranks")
    run_forked(*((n, [(root / str(n), STEPS, "strong", *SMALL)]) for n in (1, 2, 3)))
    return lambda ranks: np.load(root / str(ranks) / "strong.npz")


@pytest.mark.parametrize("ranks", [2, 3])
def test_strong_scaling_gives_the_parameters_of_one_rank(ranks, after):
    found = after(ranks)
    assert (found["batch"], found["steps"]) == (48, 8)
    assert np.ptp(found["weights"], axis=0).max() == 0.0, "the ranks ended unlike"
    one = after(1)["weights"][0]
    np.testing.assert_allclose(found["weights"][0], one, rtol=0, atol=1e-8)
