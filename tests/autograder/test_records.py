"""Notebooks read the facts of a run by name, as from a dictionary."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from autograder.records import HEADER_FACTS, Header, MeasureEvent, RunEnd

FACTS = [
    Header(framework="numpy", others={"rule": "linear", "nothing": None}),
    RunEnd(param_spread=0.5),
    MeasureEvent("fusion_s", 2.5, facts={"value": 2.5, "bytes": 8, "nothing": None}),
]


@pytest.mark.parametrize(
    ("facts", "name", "value"),
    [
        (FACTS[0], "framework", "numpy"),
        (FACTS[0], "rule", "linear"),
        (FACTS[0], "nothing", None),
        (FACTS[1], "param_spread", 0.5),
        (FACTS[1], "reason", None),
        (FACTS[2], "bytes", 8),
        (FACTS[2], "nothing", None),
    ],
)
def test_a_fact_by_its_name(facts, name, value):
    assert (name in facts) == (value is not None)
    assert facts[name] == value
    assert facts.get(name, "another") == (value or "another")


def test_a_misspelt_fact_of_the_end_is_an_error():
    with pytest.raises(AttributeError, match="param_spred"):
        FACTS[1]["param_spred"]


def test_the_schema_and_the_page_have_each_fact_that_the_grader_reads():
    schema = json.loads(Path("docs/schemas/run-record.schema.json").read_text("utf-8"))["$defs"]
    page = Path("docs/run-record.md").read_text("utf-8")
    end = {fact.name for fact in fields(RunEnd)} - {"reason"}  # it is in the line's metadata
    assert schema["header"]["properties"].keys() | schema["machine"]["properties"].keys() >= (
        HEADER_FACTS
    )
    assert schema["run_stop"]["properties"].keys() >= end
    assert set(re.findall(r"`(\w+)`", page)) >= HEADER_FACTS | {"reason"}
    assert [name for name in end if not re.search(rf"\b{name}\b", page)] == []
