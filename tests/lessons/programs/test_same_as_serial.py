"""Tests that N ranks give the parameters of one rank on the concatenated batch."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

HERE = Path(__file__).parents[1] / "ranks"
MPIRUN = "mpirun --allow-run-as-root --oversubscribe -np {} {} {} {}"
GLOO = "horovodrun --gloo -H localhost:{0} -np {0} {1} {2} {3}"


def weights_after(command: str, ranks: int, program: str, out: Path) -> np.ndarray:
    """Return (ranks, parameters): every rank's parameters after the ten steps."""
    line = command.format(ranks, sys.executable, HERE / program, out)
    env = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    done = subprocess.run(line.split(), env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.load(out)["weights"]


@pytest.fixture(scope="module", params=["keras_steps.py", "torch_steps.py"])
def serial(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("serial") / "one.npz"
    return request.param, weights_after(MPIRUN, 1, request.param, out)[0]


def test_parameters_equal_those_of_one_rank(serial, tmp_path):
    program, reference = serial
    # TensorFlow's ranks meet by MPI and PyTorch's by Gloo: each way of Horovod carries one of them.
    launcher, ranks = {"keras_steps.py": (MPIRUN, 3), "torch_steps.py": (GLOO, 3)}[program]
    every = weights_after(launcher, ranks, program, tmp_path / "many.npz")
    assert every.shape == (ranks, reference.size)
    assert np.ptp(every, axis=0).max() == 0.0, "the ranks ended with different parameters"
    np.testing.assert_allclose(every[0], reference, atol=2e-6)
