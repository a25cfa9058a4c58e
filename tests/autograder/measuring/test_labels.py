"""Everything that a rubric measures has a label and a unit that people can read."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.measuring.metrics import METRICS, OWN, metric_named, recorded_labels
from autograder.settings import rubric
from autograder.settings.rubric_schema import Rubric

RUBRICS = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(rubric.FOLDER)}
OUTPUTS = Path(__file__).parents[2] / "lessons/planted/outputs"
MEASURE = re.compile(r':::MLLOG (\{.*"key":"measure".*\})')


def metrics_of(asked: Rubric) -> Iterator[str]:
    for check in asked.checks:
        for condition in check.require:
            yield condition.metric
            for limit in (condition.threshold, condition.half_from, condition.zero_from):
                if limit and limit.metric:
                    yield limit.metric
    yield from (one.metric for one in asked.answers.values() if one.metric)


def units_in_outputs() -> dict[str, set[str]]:
    units = defaultdict(set)
    for path in OUTPUTS.rglob("*.txt"):
        for text in MEASURE.findall(path.read_text("utf-8", "replace")):
            value = json.loads(text)["value"]
            units[value["name"]].add(value.get("unit", ""))
    return units


@pytest.mark.parametrize("lesson", sorted(RUBRICS))
def test_every_metric_of_a_rubric_has_a_label_of_words(lesson):
    for name in metrics_of(RUBRICS[lesson]):
        assert name in METRICS or name.removeprefix(OWN) in recorded_labels()
        assert "_" not in metric_named(name).label


def test_the_unit_of_a_recorded_measure_is_what_the_programs_record():
    units = units_in_outputs()  # a probe records none
    kept = {name: unit for name, (_, unit) in recorded_labels().items() if name in units}
    assert not {name: units[name] for name in kept if not units[name] <= {"", kept[name]}}
    assert len(kept) > 60


WITHOUT_C = """
import yaml
del yaml.CSafeLoader
from autograder.evidence.checks import known_data
from autograder.measuring.metrics import recorded_labels
assert known_data() and recorded_labels()
"""


def test_the_data_is_read_without_the_fast_loader():
    subprocess.run([sys.executable, "-c", WITHOUT_C], check=True)
