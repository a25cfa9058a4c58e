"""Tests of the comparison with expected values: as expected, too busy, or another cause."""

import pytest

from autograder.measuring.interval import Measure
from lessons.toolkit import expectations, predictions

RANGE = (30, 60)
OUTCOMES = [
    (41, "expected"),
    ([38, 41, 44], "expected"),
    ([25, 41, 70], "expected"),  # the median is in the range, and the repeats agree roughly
    (Measure(41, 38, 44), "expected"),
    ([-11, 28, 7], "busy"),  # they disagree by more than the range is wide
    ([-80, 41, 300], "busy"),
    ([20, 25, 33], "busy"),  # one of them is in the range
    (Measure(65, 58, 70), "busy"),
    (2, "below"),
    (Measure(90, 85, 95), "above"),
]


@pytest.mark.parametrize(("measured", "outcome"), OUTCOMES)
def test_a_measurement_is_sorted_by_its_value_and_its_repeats(measured, outcome):
    causes = {"below": "Is a rank missing?", "above": "Are there too many ranks?"}
    found, printed = expectations.assess("longer by", measured, RANGE, "ms", **causes)
    assert found == outcome
    assert "30 to 60 ms" in printed
    assert ("again=True" in printed) == (outcome != "expected")
    for name, cause in causes.items():
        assert (cause in printed) == (name == outcome)


def test_a_counted_value_is_never_blamed_on_a_busy_machine(capsys):
    assert expectations.compare("bytes", 90, RANGE, above="Is it sent twice?", counted=True) is None
    outcome, printed = expectations.assess("bytes", 90, RANGE, above="Twice?", counted=True)
    assert "Is it sent twice?" in capsys.readouterr().out
    assert outcome == "above"
    assert "busy" not in printed
    assert "again=True" not in printed


def test_what_a_job_did_not_measure_does_not_stop_the_page(capsys):
    expectations.compare("bytes", float("nan"), RANGE, counted=True)
    predictions.compare("predict_sent", float("nan"))
    assert capsys.readouterr().out.count("not measured") == 2
