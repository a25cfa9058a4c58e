"""Very large outputs: what is read of them is limited."""

import pytest

from autograder.codes import FindingCode, Outcome
from autograder.reading import files as scan
from autograder.reading.files import badly_submitted, read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.reading.test_read import TRACEBACK

DEBUG = "".join(f"DEBUG step {n} of a library\n" for n in range(2_000)).encode()
EPOCHS = "".join(
    f"Epoch {n}/3\n469/469 - 1{n}s - loss: 0.{9 - n} - accuracy: 0.9{n}\n" for n in (1, 2, 3)
).encode()
TIME_LIMIT = b"slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT"
RECORD = "".join(make_record()).encode()


IN_RECORD = len(read_bytes({"a.out": RECORD})[0].epochs)
# The output, its epochs, its outcome (None: any), and whether something is left out.
LARGE = {
    "small": (EPOCHS, 3, Outcome.COMPLETED, False),
    "no middle": (EPOCHS + DEBUG[:2_500], 3, None, False),
    "begin": (EPOCHS + DEBUG, 3, None, True),
    "end": (DEBUG + EPOCHS, 3, None, True),
    "its end": (EPOCHS + DEBUG + TIME_LIMIT, 3, Outcome.TIMEOUT, True),
    "middle": (DEBUG + EPOCHS + DEBUG, 0, None, True),
    "record in the middle": (DEBUG + RECORD + DEBUG, IN_RECORD, None, True),
    "record alone": (RECORD, IN_RECORD, Outcome.COMPLETED, False),
}


@pytest.mark.parametrize(("data", "epochs", "outcome", "too_large"), LARGE.values(), ids=LARGE)
def test_what_is_read(monkeypatch, data, epochs, outcome, too_large):
    monkeypatch.setattr(scan, "MOST_SEARCHED", 2_000)
    runs = read_bytes({"a.out": data})
    assert max(len(run.epochs) for run in runs) == epochs
    assert outcome is None or outcome in {run.outcome for run in runs}
    codes = {problem.code for run in runs for problem in run.problems}
    assert (FindingCode.FILE_TOO_LARGE in codes) == too_large
    found = [finding.code for finding in badly_submitted(runs)]
    assert found == [FindingCode.FILE_TOO_LARGE] * too_large


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


@pytest.mark.slow  # making the outputs takes half a second in every worker
@pytest.mark.parametrize("data", FLOODS.values(), ids=FLOODS)
def test_floods_are_cut(data):
    runs = read_bytes({"job.out": data})
    assert len(runs) <= 5_001
    assert sum(len(run.epochs) for run in runs) <= 20_000
    assert sum(len(run.problems) for run in runs) <= 6_000
