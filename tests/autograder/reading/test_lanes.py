"""Lines of several ranks: labels tell them apart, and without labels none is read wrongly."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reading.files import read_bytes
from autograder.reading.formats.template import load_reader
from autograder.records import Run

OURS = load_reader("ours", ["pass {epoch} took {seconds} s, loss {train_loss}"])
STEPS = load_reader(
    "steps", ["tour {epoch} step {step} loss {train_loss}", "tour {epoch} val {val_loss}"]
)
PARTS = load_reader(
    "parts",
    ["lap {epoch} of {of} begins{begins}", "lap {epoch} loss {train_loss}", "checked {val_loss}"],
)


def value(rank: int, epoch: int, part: int = 0) -> str:
    """Return a loss that shows its rank and its epoch."""
    return f"{10 * epoch + rank}.{part}"


def keras(rank: int, epochs: int) -> list[str]:
    lines = []
    for n in range(1, epochs + 1):
        lines += [f"Epoch {n}/{epochs}", f"9/9 - 1s - loss: {value(rank, n)} - accuracy: 0.5"]
    return [*lines, f"9/9 - 1s - loss: {value(rank, 0)} - accuracy: 0.5"]  # as `evaluate` prints


def tutorial(rank: int, epochs: int) -> list[str]:
    lines = []
    for n in range(epochs):
        loss, check = value(rank, n + 1), value(rank, n + 1, 5)
        lines += [f"Epoch {n}/{epochs - 1}", f"train Loss: {loss} Acc: 0.5"]
        lines += [f"val Loss: {check} Acc: 0.5"]
    return lines


def ours(rank: int, epochs: int) -> list[str]:
    return [f"pass {n} took 2 s, loss {value(rank, n)}" for n in range(1, epochs + 1)]


def from_zero(rank: int, epochs: int) -> list[str]:
    return [f"pass {n} took 2 s, loss {value(rank, n + 1)}" for n in range(epochs)]


def steps(rank: int, epochs: int) -> list[str]:
    lines = []
    for n in range(1, epochs + 1):
        lines += [f"tour {n} step {step} loss {value(rank, n, step)}" for step in range(3)]
        lines += [f"tour {n} val {value(rank, n, 5)}"]
    return lines


def parts(rank: int, epochs: int) -> list[str]:
    lines = []
    for n in range(1, epochs + 1):
        lines += [f"lap {n} of {epochs} begins", f"lap {n} loss {value(rank, n)}"]
        lines += [f"checked {value(rank, n, 5)}"]
    return lines


PROGRAMS: list[Callable[[int, int], list[str]]] = [keras, tutorial, ours, from_zero, steps, parts]


def mixed(queues: list[list[str]], seed: int, stays: float) -> list[str]:
    """Return the lines of all ranks in a random order that keeps each rank's own."""
    dice, lines, at = random.Random(seed), [], 0
    queues = [list(queue) for queue in queues]
    while live := [place for place, queue in enumerate(queues) if queue]:
        if at not in live or dice.random() > stays:
            at = dice.choice(live)
        lines.append(queues[at].pop(0))
    return lines


def read(lines: list[str]) -> list[Run]:
    return read_bytes({"job.out": ("\n".join(lines) + "\n").encode()}, [OURS, STEPS, PARTS])


def said(run: Run) -> list[tuple]:
    return [
        (epoch.number, *(n and n.value for n in (epoch.train_loss, epoch.val_loss)))
        for epoch in run.epochs
    ]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(PROGRAMS),
    st.integers(1, 4),
    st.integers(2, 4),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.5, 0.9]),
)
def test_ranks_without_labels_give_no_wrong_number(program, epochs, ranks, seed, stays):
    """A value is one that a rank printed of this epoch, or none."""
    for run in read(mixed([program(rank, epochs) for rank in range(1, ranks + 1)], seed, stays)):
        for epoch in run.epochs:
            for loss in filter(None, (epoch.train_loss, epoch.val_loss)):
                assert int(loss.value) // 10 == epoch.number


@pytest.mark.parametrize("program", PROGRAMS)
def test_ranks_in_step_without_labels_are_named_and_not_read(program):
    (run,) = read([line for line in program(1, 3) for _ in range(4)])
    assert (run.epochs, run.workers) == ((), None)
    assert "several processes" in run.problems[-1].title


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(PROGRAMS), st.integers(1, 4), st.integers(2, 4), st.integers(0, 10**6))
def test_ranks_with_labels_are_told_apart_in_any_order(program, epochs, ranks, seed):
    labelled = [[f"{rank}: {line}" for line in program(rank, epochs)] for rank in range(ranks)]
    (run,) = read(mixed(labelled, seed, 0.5))
    (alone,) = read(program(0, epochs))
    assert said(run) == said(alone)
    assert (run.workers, run.outcome) == (ranks, alone.outcome)


@pytest.mark.parametrize("program", PROGRAMS)
def test_runs_one_after_the_other_are_runs(program):
    (alone,) = read(program(1, 3))
    assert len(alone.epochs) == 3
    runs = read(program(1, 3) + program(2, 3) + program(3, 3)[:-2])
    assert [len(said(run)) for run in runs[:2]] == [3, 3]
    assert said(runs[0]) == said(alone)
    assert len(runs) == 3


def test_a_program_may_train_several_times_and_then_evaluate():
    *first, _ = keras(1, 3)
    *second, test = keras(2, 2)
    runs = read([*first, *second, test])
    assert [len(said(run)) for run in runs] == [3, 2]
    assert said(runs[1]) == said(read(keras(2, 2))[0])
    (run,) = read([*first, *second, test, test])  # or two processes, each with its own evaluation
    assert run.epochs == ()


def test_steps_of_two_launches_with_labels_have_their_own_workers():
    lines = [f"{rank}: {line}" for ranks in (2, 3) for line in ours(1, 2) for rank in range(ranks)]
    assert [run.workers for run in read(lines)] == [2, 3]
