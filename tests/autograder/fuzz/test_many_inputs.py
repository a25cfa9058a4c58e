"""A small part of the inputs that many_inputs.py makes by the million."""

import pytest

from autograder.reading.files import read_bytes
from tests.autograder.fuzz.many_inputs import CHECKS, KERAS, keras, losses, run_inputs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(4))
def test_what_nobody_printed_is_read_and_changes_no_other_run(seed):
    assert run_inputs((seed, 75 * len(CHECKS))) == []


def test_a_run_that_counts_its_epochs_otherwise_is_another_run():
    """One run was cut off in the first of epochs 0 and 1; the other one counts epochs 1 and 2."""
    cut = b"Epoch 0/1\ntrain Loss: 0.4012 Acc: 0.8279\n"
    *_, run = read_bytes({"job.out": cut + KERAS})
    assert (losses(run), run.outcome) == (keras(), "completed")
