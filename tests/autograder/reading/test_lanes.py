"""Interleaved lines of several ranks end up in the lanes of the ranks that printed them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reading.formats.reader import Reader
from autograder.reading.lane_lines import add_line
from autograder.reading.lanes import Lane, Lanes
from autograder.reading.lanes_to_runs import by_run
from autograder.reading.line_facts import LineFacts, RunFacts
from autograder.records import Number

READER = Reader("test", ("x",), lambda line: None)


@st.composite
def training(draw) -> list[LineFacts]:
    """Draw the lines of one process in order: beginnings, steps and results of some epochs."""
    lines = []
    epochs = draw(st.integers(1, 4))
    base = draw(st.integers(0, 1))
    for number in range(base, base + epochs):
        if draw(st.booleans()):
            lines.append(LineFacts(number, of=epochs + base - 1, opens=True))
        steps = sorted(draw(st.sets(st.integers(0, 9), max_size=3)))
        for step in steps:
            lines.append(
                LineFacts(number, step=step, numbers={"train_loss": Number(1 / (1 + step))})
            )
        run = draw(st.sampled_from([None, RunFacts({"test_loss": Number(0.5)}, workers=2)]))
        numbers = {"train_loss": draw(st.sampled_from([None, Number(0.25)]))}
        lines.append(LineFacts(number, closes=True, numbers=numbers, run=run))
    return lines


def lanes_of(lines: list[tuple[int | None, LineFacts]]) -> Lanes:
    lanes = Lanes("job.out")
    for at, (label, facts) in enumerate(lines, start=1):
        add_line(lanes, READER, label, at, facts)
    return lanes


def all_lanes(lanes: Lanes) -> list[Lane]:
    return [lane for run in by_run(lanes) for lane in run]


def said(lane: Lane) -> tuple:
    """Return a lane's facts without the lines that its numbers come from."""
    epochs = {
        at: (epoch.closed, epoch.whole, {k: v and v.value for k, v in epoch.numbers.items()})
        for at, epoch in lane.epochs.items()
    }
    run = {name: number and number.value for name, number in lane.run.numbers.items()}
    return epochs, run, lane.run.workers, len(lane.problems)


@given(training())
def test_one_process_is_one_lane(lines):
    (lane,) = all_lanes(lanes_of([(None, facts) for facts in lines]))
    assert sorted(lane.epochs) == list(range(1, len(lane.epochs) + 1))
    assert all(epoch.closed and epoch.whole for epoch in lane.epochs.values())
    diverged = [facts for facts in lines if None in facts.numbers.values()]
    assert len(lane.problems) == len(diverged)


@pytest.mark.slow
@given(st.lists(training(), min_size=2, max_size=4), st.randoms())
def test_ranks_with_labels_are_told_apart_in_any_order(trainings, dice):
    queues = [[(rank, facts) for facts in lines] for rank, lines in enumerate(trainings)]
    mixed = []
    while queues:
        queue = dice.choice(queues)
        mixed.append(queue.pop(0))
        queues = [queue for queue in queues if queue]
    together = {lane.label: said(lane) for lane in all_lanes(lanes_of(mixed))}
    for rank, lines in enumerate(trainings):
        (alone,) = all_lanes(lanes_of([(rank, facts) for facts in lines]))
        assert together[rank] == said(alone)


@given(training().filter(lambda lines: len(lines) > 1), st.integers(2, 4))
def test_ranks_in_step_without_labels_are_lanes_of_one_run(lines, ranks):
    """All ranks print the same line before any of them prints the next one."""
    (run,) = by_run(lanes_of([(None, facts) for facts in lines for _ in range(ranks)]))
    assert len(run) == ranks
    assert len({repr(said(lane)) for lane in run}) == 1
