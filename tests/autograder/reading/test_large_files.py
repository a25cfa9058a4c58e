"""Very large outputs: what is read of them is limited."""

import pytest

from autograder.codes import FindingCode, Outcome
from autograder.reading import files as scan
from autograder.reading.files import badly_submitted
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.reading.test_read import KERAS, TRACEBACK

DEBUG = "".join(f"DEBUG step {n} of a library\n" for n in range(2_000)).encode()
EPOCHS = KERAS.encode()
TIME_LIMIT = b"slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT"
RECORD = "".join(f"{line}\n" for line in make_record()).encode()
# The output, its epochs, its outcome (None: any), and whether something is left out.
LARGE = {
    "small": (EPOCHS, 3, Outcome.COMPLETED, False),
    "begin": (EPOCHS + DEBUG, 3, None, True),
    "end": (DEBUG + EPOCHS, 3, None, True),
    "its end": (EPOCHS + DEBUG + TIME_LIMIT, 3, Outcome.TIMEOUT, True),
    "middle": (DEBUG + EPOCHS + DEBUG, 0, None, True),
    "record in the middle": (DEBUG + RECORD + DEBUG, 3, None, True),
    "record alone": (RECORD, 3, Outcome.COMPLETED, False),
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


FLOODS = {  # a line, or several, and how often: 6,000 records take a second in every worker
    "runs": (lambda _: "Epoch 1/1\n9/9 - 1s - loss: 0.1 - accuracy: 0.9", 20_000),
    "epochs": (lambda number: f"Epoch {number + 1}: loss=0.5", 60_000),
    "records": (lambda number: "\n".join(make_record(run=f"{number:08x}", seconds=(1,))), 6_000),
    "MLPerf runs": (lambda n: f':::MLLOG {{"key": "{("init_start", "run_stop")[n % 2]}"}}', 40_000),
    "damaged records": (lambda _: ":::MLLOG {", 50_000),
    "tracebacks": (lambda _: TRACEBACK, 10_000),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "times"), FLOODS.values(), ids=FLOODS)
def test_floods_are_cut(text, times):
    runs = read_bytes({"job.out": "\n".join(map(text, range(times))).encode()})
    assert len(runs) <= 5_001
    assert sum(len(run.epochs) for run in runs) <= 20_000
    assert sum(len(run.problems) for run in runs) <= 6_000
