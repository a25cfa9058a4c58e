"""Tests of Horovod's timeline: spans, steps and parts of a step, from files in its form."""

import json

import pytest
from hypothesis import given, strategies as st

from lessons.toolkit.ranks import timeline
from lessons.toolkit.ranks.timeline import ALLREDUCE, NEGOTIATE, Span


def trace(*steps):
    """Return a file's text. Steps have each tensor's begin, and ends of negotiation and travel."""
    events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time": 1}}]
    names = list(dict.fromkeys(name for step in steps for name in step))
    for pid, name in enumerate(names, start=1):
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})
        events.append({"name": "process_sort_index", "ph": "M", "pid": pid, "args": {}})
    for step in steps:
        for name, (begin, ready, end) in step.items():
            pid = names.index(name) + 1
            events += [
                {"ph": "B", "name": NEGOTIATE, "ts": begin, "pid": pid},
                {"ph": "X", "name": "0", "ts": begin, "pid": pid, "dur": 0},
                {"ph": "E", "ts": ready, "pid": pid},
                {"ph": "B", "name": ALLREDUCE, "ts": ready, "pid": pid},
                {"ph": "B", "name": "MPI_ALLREDUCE", "ts": ready, "pid": pid},
                {"ph": "E", "ts": end, "pid": pid},
                {"ph": "E", "ts": end, "pid": pid, "args": {"dtype": "float32"}},
            ]
    return "[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n"


STEPS = (
    {"bias": (0, 40_000, 60_000), "weight": (20_000, 40_000, 60_000)},
    {"bias": (100_000, 140_000, 150_000), "weight": (110_000, 140_000, 160_000)},
    {"bias": (200_000, 240_000, 260_000), "weight": (210_000, 240_000, 260_000)},
)


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "timeline_2.json"
        path.write_text(text)
        return path

    return write


def test_the_parts_of_a_step(file):
    steps = timeline.steps(timeline.read_timeline(file(trace(*STEPS))))
    assert [(step.start, step.end) for step in steps] == [
        (0.0, 0.1),
        (0.1, 0.2),
    ]  # the last is open
    assert [step.exchanging for step in steps] == pytest.approx([0.2, 0.2])
    assert [step.negotiating for step in steps] == pytest.approx([0.4, 0.4])
    assert timeline.typical(steps) == pytest.approx((0.1, 0.2, 0.4))


@pytest.mark.parametrize("cut", [3, 10, 40, 150])
def test_a_job_that_was_ended_leaves_a_file_that_can_be_read(cut, file):
    steps = timeline.steps(timeline.read_timeline(file(trace(*STEPS)[:-cut])))
    assert timeline.typical(steps) == pytest.approx((0.1, 0.2, 0.4))


@pytest.mark.parametrize("text", ["", "no timeline", "[1, 2", '{"a": 1}x'])
def test_another_file_is_refused_in_a_sentence(text, file):
    with pytest.raises(ValueError, match="not a Horovod timeline"):
        timeline.read_timeline(file(text))


TIMES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12)


@given(TIMES)
def test_time_counts_once_where_spans_overlap(times):
    spans = [Span("x", ALLREDUCE, start, start + length) for start, length in times]
    seconds = {n for span in spans for n in range(int(span.start), int(span.end))}
    assert timeline.covered(spans) == len(seconds)
