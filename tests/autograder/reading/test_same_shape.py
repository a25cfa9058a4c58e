"""Lines skipped for speed would not have changed the result: both ways of reading agree."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reading import printed_lines, same_shape
from autograder.reading.files import read_bytes

# Lines of steps as programs print them: {0} is the epoch, {1} the step, {2} a loss.
STEPS = {
    "torch-mnist": "Train Epoch: {0} [{1}/60000 ({1}%)]\tLoss: {2}",
    "torch-imagenet": "Epoch: [{0}][ {1}/39]\tTime 0.1 (0.13)\tLoss {2} (2.4)\tAcc@1 10.0 (12.{1})",
    "plain": "Epoch [{0}/4], Step [{1}/39], Loss: {2}",
    "a number ahead": "12:00:0{0} epoch {0} step {1}: loss = {2}",
    "epoch behind": "step {1} of epoch {0}: loss {2}",
    "timm": "Train: {0} [{1}/39 ({1}%)]  Loss: {2} (2.1)  Time: 0.1s, 24/s (0.11s, 23/s)  LR: 0.1",
}
VALUES = ["0.5", "2.25", "1e-05", "nan", "-0.5", "7", "0.5 ", "inf", "?"]


@st.composite
def logs(draw) -> bytes:
    """Draw mostly lines of steps that count up, mixed with other lines, ranks and non-numbers."""
    shape = draw(st.sampled_from(sorted(STEPS)))
    dice = random.Random(draw(st.integers(0, 10**6)))
    lines = []
    for epoch in range(draw(st.integers(1, 3))):
        for step in range(0, draw(st.integers(1, 39)), draw(st.integers(1, 3))):
            value = dice.choice(VALUES) if dice.random() < 0.05 else f"{1 / (1 + step):.4f}"
            line = STEPS[shape].format(epoch, step, value)
            lines.append(line)
            if dice.random() < 0.04:
                odd = [
                    "INFO",
                    f"Epoch {epoch}: val_acc: 0.5",
                    line,
                    "1: " + line,
                    line + "\r" + line,
                ]
                lines.append(dice.choice([*odd, "Test accuracy: 0.9", "\x1b[1m" + line]))
        if draw(st.booleans()):
            lines.append(f"Test set: Average loss: 0.05, Accuracy: 98{epoch}/1000 (98%)")
    return "\n".join(lines).encode()


@settings(max_examples=200, deadline=None)
@given(logs())
def test_steps_that_are_jumped_over_change_nothing(text):
    runs = read_bytes({"job.out": text})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(same_shape, "goes_on", lambda before, now: False)
        assert read_bytes({"job.out": text}) == runs


def test_steps_are_jumped_over(monkeypatch):
    seen = []
    read = printed_lines.lines.shown
    monkeypatch.setattr(printed_lines.lines, "shown", lambda raw: seen.append(raw) or read(raw))
    lines = [
        STEPS["torch-mnist"].format(epoch, step, 0.5) for epoch in (1, 2) for step in range(900)
    ]
    (run,) = read_bytes({"job.out": "\n".join(lines).encode()})
    assert [epoch.train_loss.where.line for epoch in (*run.epochs, run.unfinished)] == [900, 1800]
    assert len(seen) < 20


TRACEBACK = "Traceback (most recent call last):\n  File x\n    y = z\n{}: {}\n"


def test_of_a_flood_of_tracebacks_the_first_and_the_last_are_kept(monkeypatch):
    names = [f"Odd{number}Error" for number in range(5000)]
    text = "".join(TRACEBACK.format(name, "1") for name in names).encode()
    monkeypatch.setattr(printed_lines.lines, "BLOCK", 80_000)
    monkeypatch.setattr(printed_lines.lines.blocks, "__defaults__", (80_000, 10**6))
    (run,) = read_bytes({"job.out": text})
    assert run.problems[1].text.startswith("Odd0Error")
