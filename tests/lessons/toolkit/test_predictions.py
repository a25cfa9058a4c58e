"""Tests of “you said …, you measured …”, for numbers, words and intervals."""

import pathlib

import pytest

from autograder.measuring.interval import Measure
from lessons.toolkit import answers, predictions

COMPARED = [
    (0.97, 0.953, "you said 0.97, you measured 0.953: 2% too high."),
    (0.9, 0.953, "you said 0.9, you measured 0.953: 6% too low."),
    (2, 2, "you said 2, you measured 2: the same."),
    (20, 3.4, "you said 20, you measured 3.4: 5.9 times too high."),
    (0.1, 0.8, "you said 0.1, you measured 0.8: 8 times too low."),
    (1, 0, "you said 1, you measured 0: 1 apart."),
    (0, 0, "you said 0, you measured 0: the same."),
    ("other", "other", "you said “other”, you measured “other”: as you predicted."),
    ("Same", "other", "you said “Same”, you measured “other”: not as you predicted."),
    ("a lot", 3.4, "you said “a lot”, you measured 3.4: not as you predicted."),
    (1.9, Measure(1.7, 1.5, 2.0), "you measured 1.7 (1.5 to 2): within this range."),
    (4, Measure(1.7, 1.5, 1.9), "you measured 1.7 (1.5 to 1.9): 2.4 times too high."),
]


@pytest.mark.parametrize(("before", "measured", "line"), COMPARED)
def test_what_was_said_stands_beside_what_was_measured(before, measured, line, chdir, capsys):
    answers.note(predict_it=before, other=7)
    capsys.readouterr()
    predictions.compare("predict_it", measured)
    assert line in " ".join(capsys.readouterr().out.split())


def test_nothing_said_is_a_sentence_and_no_error(chdir, capsys):
    predictions.compare("predict_it", 3)
    assert "predict_it: you predicted nothing, you measured 3." in capsys.readouterr().out
    assert predictions.said("predict_it") is None
    answers.note(predict_it=4, word="nan")
    assert predictions.said("predict_it") == 4
    assert predictions.said("word") == "nan"


def test_what_was_written_by_hand_is_kept(chdir):
    path = pathlib.Path("answers.txt")
    path.write_text("# mine\npredict_it: 3\nkeras_epoch_s: 0.9\nit was fast\nword = no\n")
    answers.note(predict_it=4)
    assert path.read_text().splitlines() == [
        "# mine", "keras_epoch_s: 0.9", "it was fast", "predict_it = 4", "word = no"]  # fmt: skip


@pytest.fixture
def chdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
