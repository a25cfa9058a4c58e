"""Outputs with very many runs, epochs or broken lines: what is read of them is limited."""

import pytest

from autograder.reading.files import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.reading.test_read import TRACEBACK

pytestmark = pytest.mark.slow  # making the outputs takes half a second in every worker

FLOODS = {
    "runs": b"Epoch 1/1\n9/9 - 1s - loss: 0.1 - accuracy: 0.9\n" * 20_000,
    "epochs": b"".join(b"Epoch %d: loss=0.5\n" % number for number in range(1, 60_000)),
    "records": "\n".join(
        line for number in range(6_000) for line in make_record(run=f"{number:08x}", seconds=(1,))
    ).encode(),
    "MLPerf runs": b':::MLLOG {"key": "init_start"}\n:::MLLOG {"key": "run_stop"}\n' * 20_000,
    "damaged records": b":::MLLOG {\n" * 50_000,
    "tracebacks": TRACEBACK.encode() * 10_000,
}


@pytest.mark.parametrize("data", FLOODS.values(), ids=FLOODS)
def test_floods_are_cut(data):
    runs = read_bytes({"job.out": data})
    assert len(runs) <= 5_001
    assert sum(len(run.epochs) for run in runs) <= 20_000
    assert sum(len(run.problems) for run in runs) <= 6_000
