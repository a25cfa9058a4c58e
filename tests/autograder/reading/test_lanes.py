"""Lines of several ranks: labels tell them apart, and without labels none is read wrongly."""

import random

import pytest
from hypothesis import given, settings, strategies as st

from autograder.reading.formats.template import load_reader
from autograder.records import Run
from tests.autograder.in_memory import read_bytes

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


# The lines of an epoch, counted from 1 (n) or from 0 (i), and the lines after training.
PROGRAMS = {
    "keras": ["Epoch {n}/{of}", "9/9 - 1s - loss: {loss} - accuracy: 0.5"],
    "tutorial": ["Epoch {i}/{last}", "train Loss: {loss} Acc: 0.5", "val Loss: {check} Acc: 0.5"],
    "ours": ["pass {n} took 2 s, loss {loss}"],
    "from zero": ["pass {i} took 2 s, loss {loss}"],
    "steps": ["tour {n} step 0 loss {loss}", "tour {n} step 1 loss {more}", "tour {n} val {check}"],
    "parts": ["lap {n} of {of} begins", "lap {n} loss {loss}", "checked {check}"],
}
AFTER = {"keras": ["9/9 - 1s - loss: {loss} - accuracy: 0.5"]}  # as `evaluate` prints
PROGRAM, EPOCHS, RANKS = st.sampled_from(sorted(PROGRAMS)), st.integers(1, 4), st.integers(2, 4)
SEED = st.integers(0, 10**6)


def printed(program: str, rank: int, epochs: int) -> list[str]:
    lines = []
    for n in range(1, epochs + 1):
        facts = {"n": n, "i": n - 1, "of": epochs, "last": epochs - 1}
        facts |= {"loss": value(rank, n), "more": value(rank, n, 1), "check": value(rank, n, 5)}
        lines += [line.format(**facts) for line in PROGRAMS[program]]
    return lines + [line.format(loss=value(rank, 0)) for line in AFTER.get(program, ())]


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


@settings(max_examples=100)
@given(PROGRAM, EPOCHS, RANKS, SEED, st.sampled_from([0.0, 0.5, 0.9]))
def test_ranks_without_labels_give_no_wrong_number(program, epochs, ranks, seed, stays):
    """A value is one that a rank printed of this epoch, or none."""
    queues = [printed(program, rank, epochs) for rank in range(1, ranks + 1)]
    for run in read(mixed(queues, seed, stays)):
        for epoch in run.epochs:
            for loss in filter(None, (epoch.train_loss, epoch.val_loss)):
                assert int(loss.value) // 10 == epoch.number


@pytest.mark.parametrize("program", PROGRAMS)
def test_ranks_in_step_without_labels_are_named_and_not_read(program):
    (run,) = read([line for line in printed(program, 1, 3) for _ in range(4)])
    assert (run.epochs, run.workers) == ((), None)
    assert "several processes" in run.problems[-1].title


@given(PROGRAM, EPOCHS, RANKS, SEED)
def test_ranks_with_labels_are_told_apart_in_any_order(program, epochs, ranks, seed):
    labelled = [
        [f"{rank}: {line}" for line in printed(program, rank, epochs)] for rank in range(ranks)
    ]
    (run,) = read(mixed(labelled, seed, 0.5))
    (alone,) = read(printed(program, 0, epochs))
    assert said(run) == said(alone)
    assert (run.workers, run.outcome) == (ranks, alone.outcome)


@pytest.mark.parametrize("program", PROGRAMS)
def test_runs_one_after_the_other_are_runs(program):
    (alone,) = read(printed(program, 1, 3))
    assert len(alone.epochs) == 3
    runs = read(printed(program, 1, 3) + printed(program, 2, 3) + printed(program, 3, 3)[:-2])
    assert [len(said(run)) for run in runs[:2]] == [3, 3]
    assert said(runs[0]) == said(alone)
    assert len(runs) == 3


def test_a_program_may_train_several_times_and_then_evaluate():
    *first, _ = printed("keras", 1, 3)
    *second, test = printed("keras", 2, 2)
    runs = read([*first, *second, test])
    assert [len(said(run)) for run in runs] == [3, 2]
    assert said(runs[1]) == said(read(printed("keras", 2, 2))[0])
    (run,) = read([*first, *second, test, test])  # or two processes, each with its own evaluation
    assert run.epochs == ()


def test_steps_of_two_launches_with_labels_have_their_own_workers():
    ours = printed("ours", 1, 2)
    lines = [f"{rank}: {line}" for ranks in (2, 3) for line in ours for rank in range(ranks)]
    assert [run.workers for run in read(lines)] == [2, 3]
