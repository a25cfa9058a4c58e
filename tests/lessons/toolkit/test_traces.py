"""Tests of small trace files: what is kept of a profile, and the traces that lesson 14 ships."""

import json
from pathlib import Path

import pytest

from lessons.toolkit import traces
from lessons.toolkit.plots.profiling import KINDS
from tests.lessons.real_runs import ROOT

LEVERS = ("shapes", "loader", "none", "overlap", "batch", "slow")
LETTERS = dict(zip(("a", "b", "c", "d", "e", "slow"), LEVERS, strict=True))

SHIPPED = ROOT / "solutions" / "14_profile" / "traces"
EVENTS = [
    ("rank 0, thread 1", "part: input", 5000.0, 2000.0),
    ("rank 0, thread 1", "aten::linear", 7000.0, 500.0),
    ("rank 0, thread 2", "gloo:all_reduce", 7100.0, 1000.0),
    ("rank 1, thread 1", "aten::linear", 7000.0, 900.0),
]


def test_operations_inside_others_are_left_out_and_parts_stay():
    spans = [
        ("part: a", 0, 10, False),
        ("outer", 1, 5, False),
        ("inner", 2, 1, False),
        ("call", 2.5, 1, True),
        ("part: b", 3, 1, False),
        ("next", 6, 2, False),
    ]
    kept = [name for name, *_ in traces.outer(spans)]
    assert kept == ["part: a", "outer", "call", "part: b", "next"]


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


# Fields and categories as Kineto writes them. No GPU has been seen.
ON_GPU = [
    ("cpu_op", "aten::addmm", 1, 10, 0.0, 40.0),
    ("cuda_runtime", "cudaLaunchKernel", 1, 10, 10.0, 5.0),
    ("cpu_op", "aten::item", 1, 10, 50.0, 30.0),
    ("cuda_runtime", "cudaStreamSynchronize", 1, 10, 55.0, 20.0),
    ("kernel", "ampere_sgemm_128x64_tn", 0, 7, 20.0, 1.5),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", 0, 20, 25.0, 15.0),
    ("ac2g", "ac2g", 0, 7, 20.0, 1.0),
]


class GpuProfile:
    def export_chrome_trace(self, file):
        names = ("cat", "name", "pid", "tid", "ts", "dur")
        events = [{"ph": "X", **dict(zip(names, each, strict=True))} for each in ON_GPU]
        Path(file).write_text(json.dumps({"traceEvents": events}))


def test_a_gpus_streams_and_the_calls_of_its_runtime_stay():
    trace = traces.reduced(GpuProfile())
    assert trace["lanes"] == ["rank 0, stream 1", "rank 0, stream 2", "rank 0, thread 1"]
    assert {name for _, name, *_ in ON_GPU} - set(trace["names"]) == {"ac2g"}
    assert traces.spans_of(trace, *traces.COMMUNICATION) == [(0.025, 0.04)]
    kinds = {next((kind for word, kind in KINDS.items() if word in name), "operation"): name
             for name in trace["names"]}  # fmt: skip
    assert set(kinds) == {"operation", "launch", "wait", "communication"}


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
    assert share("slow", "part: gradients") > 0.5
    assert share("none", "aten::linear", "AddmmBackward0") > 0.4 > share("batch", "aten::linear")
