"""Tests of small trace files: what is kept of a profile, and the traces that lesson 14 ships."""

import pytest

from lessons.toolkit import traces
from tests.lessons.real_runs import ROOT

# In which order students see them: the file names must not tell.
LETTERS = dict(zip("abcdef", ("shapes", "loader", "none", "overlap", "batch", "sync"), strict=True))

SHIPPED = ROOT / "solutions" / "14_profile" / "traces"
EVENTS = [
    ("rank 0, thread 1", "part: input", 5000.0, 2000.0),
    ("rank 0, thread 1", "aten::linear", 7000.0, 500.0),
    ("rank 0, thread 2", "gloo:all_reduce", 7100.0, 1000.0),
    ("rank 1, thread 1", "aten::linear", 7000.0, 900.0),
]


def test_operations_inside_others_are_left_out_and_parts_stay():
    spans = [
        ("part: a", 0, 10),
        ("outer", 1, 5),
        ("inner", 2, 1),
        ("part: b", 3, 1),
        ("next", 6, 2),
    ]
    assert [name for name, *_ in traces.outer(spans)] == ["part: a", "outer", "part: b", "next"]


def test_times_begin_at_0_and_a_file_gives_them_back(tmp_path):
    trace = traces.packed(EVENTS, {"date": "today"})
    traces.write(tmp_path / "t.json.gz", trace)
    assert traces.read(tmp_path / "t.json.gz") == trace
    assert traces.length_of(trace) == pytest.approx(3.1)
    assert traces.spans_of(trace, "aten::") == [(2.0, 2.5)], "of the first rank only"
    assert traces.spans_of(trace, "all_reduce") == [(2.1, 3.1)], "of all its threads"
    assert traces.totals(trace) == [("part: input", 1, 2.0), ("aten::linear", 1, 0.5)]


def test_a_profile_becomes_a_trace():
    import torch

    with torch.profiler.profile() as profiler, torch.profiler.record_function("part: product"):
        torch.ones(64, 64) @ torch.ones(64, 64)
    trace = traces.reduced(profiler, shortest_us=0)
    assert trace["lanes"] == ["rank 0, thread 1"]
    assert {"part: product", "aten::ones"} <= set(trace["names"])


@pytest.mark.parametrize("letter", LETTERS)
def test_a_shipped_trace_is_small_and_says_where_it_comes_from(letter):
    file = SHIPPED / f"{letter}.json.gz"
    assert file.stat().st_size < 60_000
    assert set(traces.read(file)["about"]) == {"hardware", "python", "torch", "date", "steps"}


def test_each_trace_shows_what_its_lever_mends():
    found = {lever: traces.read(SHIPPED / f"{letter}.json.gz") for letter, lever in LETTERS.items()}
    whole = {lever: traces.length_of(trace) for lever, trace in found.items()}

    def share(lever, *words):
        return (
            sum(end - start for start, end in traces.spans_of(found[lever], *words)) / whole[lever]
        )

    assert share("loader", "part: input") > 0.3 > share("none", "part: input")
    assert share("shapes", "dynamo") > 0.3
    assert share("overlap", "all_reduce") > 0.1
    assert len(traces.spans_of(found["sync"], "aten::item")) > 100
    assert share("none", "aten::linear", "AddmmBackward0") > 0.4 > share("batch", "aten::linear")
