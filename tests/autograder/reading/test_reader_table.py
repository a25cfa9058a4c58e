"""Test which facts are read of 46 job outputs of others (benchmarks/grading/reader_table.py)."""

import json

import pytest

from autograder.reading.formats.template import load_reader
from tests.autograder.reading.known_outputs import LOGS, Row, judge, rows

pytestmark = pytest.mark.logs

MEDIAN = "epoch_seconds_median_excl_first"
KERAS = f"final_train_loss final_val_loss epochs {MEDIAN}"
OF_CLASSES = f"{KERAS} final_train_accuracy final_val_accuracy job_id"
# The facts of expected.json that are read. All others are not read: no preset describes the lines.
READ = {
    "005": "total_seconds",
    "007": f"{OF_CLASSES} epoch_seconds",
    "009": f"{OF_CLASSES} epoch_seconds_first epoch_seconds_last",
    "010": f"{OF_CLASSES} epoch_seconds",
    **dict.fromkeys(("011", "012", "014", "015", "025", "037", "039", "040", "043"), "job_id"),
    **dict.fromkeys(("057", "058", "060", "061"), "job_id"),
    "017": f"{OF_CLASSES} epoch_seconds best_val_accuracy workers",
    "019": "test_accuracy",
    "021": f"{OF_CLASSES} epoch_seconds best_val_accuracy workers",
    "033": "epochs final_train_loss throughput_median_excl_first job_id",
    "049": f"{KERAS} epoch_seconds_first",
    **dict.fromkeys(("063", "064"), "workers"),
    "068": "epochs final_train_loss final_val_loss final_train_accuracy final_val_accuracy"
    " best_val_accuracy",
    "071": "final_val_accuracy",
    **dict.fromkeys(("076", "077"), "epochs final_val_accuracy"),
}
# Outcomes other than unknown.
ENDS = {
    "completed": "005 007 009 010 017 021 032 050 051 066 068 071 076 077",
    "failed": "011 037 046 049 080",
    "cancelled": "025 058 061",
    "oom": "039 063",
    "timeout": "043 057",
}


@pytest.fixture(scope="module")
def table() -> list[Row]:
    assert LOGS is not None
    return rows(LOGS)


def test_nothing_is_wrong(table):
    assert len(table) == 46
    assert {row.file: row.wrong for row in table if row.wrong} == {}
    assert {row.file: row.said for row in table if row.outcome == "wrong"} == {}


def test_what_presets_describe_is_read(table):
    found = {row.file[:3]: sorted(row.right) for row in table if row.right}
    assert found == {name: sorted(facts.split()) for name, facts in READ.items()}
    for outcome, names in ENDS.items():
        assert [row.file[:3] for row in table if row.said == outcome] == names.split()


SETTING = "Epoch: {epoch} | Training Loss: {train_loss} | Training Accuracy: {train_accuracy:%}"
# Templates as an instructor would write them for these programs, and what they read in addition.
WRITTEN: dict[str, tuple[list[str], str]] = {
    "027": (
        [
            "Epoch: {epoch}{begins}{end}",
            "Training Epoch Time: {seconds}",
            "Training Loss: {train_loss}",
            "Test set Averages: Loss: {test_loss} | Precision@1: {test_accuracy}%{ends}",
        ],
        f"epochs epoch_seconds {MEDIAN} final_train_loss test_accuracy test_loss",
    ),
    "032": (
        [
            SETTING,
            "Epoch {epoch} | Data Loading Time: {any} Running Time: {seconds} sec",
            "Finished training using {any} optimizer{done}",
        ],
        f"runs epochs epoch_seconds {MEDIAN} final_train_loss final_train_accuracy",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_templates_of_ones_own_read_more(name):
    assert LOGS is not None
    entries = {entry["id"]: entry for entry in json.loads((LOGS / "expected.json").read_text())}
    templates, facts = WRITTEN[name]
    row = judge(LOGS, entries[name], [load_reader("ours", templates)])
    assert row.wrong == []
    assert set(row.right) == {*facts.split(), *READ.get(name, "").split()}
