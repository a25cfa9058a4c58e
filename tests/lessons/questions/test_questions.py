"""Tests of the immediate feedback on an answer: its form, and a hint if it is wrong."""

import json
import re
from pathlib import Path

import pytest

from autograder.settings import answer_hints, rubric
from autograder.settings.draws import about_items
from autograder.settings.rubric_schema import tolerance
from lessons.edition.for_grader import answer_hashes
from lessons.questions.forms import form_fault, forms
from lessons.toolkit import answers

ROOT = Path(__file__).parents[3]
RUBRICS = {path.stem: rubric.load_rubric(path) for path in rubric.FOLDER.glob("[0-9]*.yaml")}
EXPECTED = {  # without those about the items of pools, which get neither hints nor hashes
    lesson: {
        key: value
        for key, value in rubric.load_expected(
            rubric.FOLDER / "expected" / f"{lesson}.yaml", asked
        ).items()
        if key not in about_items(asked)
    }
    for lesson, asked in RUBRICS.items()
}
WORDS = [
    (lesson, key, str(word))
    for lesson, expected in EXPECTED.items()
    for key, word in expected.items()
    if RUBRICS[lesson].answers[key].kind == "word"
]
NUMBERS = [
    (lesson, key, float(number))
    for lesson, expected in EXPECTED.items()
    for key, number in expected.items()
    if RUBRICS[lesson].answers[key].kind == "number"
]

FORMS = [
    ("00_cluster", "predict_lines", "two", "digits only"),
    ("00_cluster", "predict_lines", 2, None),
    ("00_cluster", "predict_host_job", "the other one", "same, other"),
    ("00_cluster", "predict_host_job", "Other", None),
    ("00_cluster", "predict_host_here", "node-17", None),
    ("02_serial", "predict_accuracy", 97, "from 0 to 1"),
    ("02_serial", "predict_accuracy", "0.97", None),
    ("02_serial", "predict_accuracy", float("nan"), "digits only"),
    ("02_serial", "predict_accuracy", "97 %", "0.05 instead of 5 %"),
    ("02_serial", "predict_accuracy", "0,97", "1.5 instead of 1,5"),
    ("03_baseline", "predict_steps", "50,000", "50000 instead of 50,000"),
    ("02_serial", "predict_accuracy", (0, 97), "1.5 instead of 1,5"),
    ("02_serial", "predict_accuracy", "", "nothing"),
    ("02_serial", "keras_epoch_s", "about two", "wrong form. Expected: digits only"),
    ("02_serial", "keras_epoch_s", "7,2 s", None),
    ("02_serial", "predict_acuracy", 0.97, "no question"),
    ("07_horovod", "predict_unlike", "az", "letters"),
    ("07_horovod", "predict_unlike", "none", None),
    ("07_horovod", "predict_unlike", "", "letters"),
    ("07_horovod", "predict_epoch", "at once", "quarter, same, longer"),
    ("05_mirrored", "predict_2", "seven", "counts, but cannot be compared"),
    ("01_learning", "insect_one_hot", 3, "wrong form. Expected: one word of 10 letters or digits"),
    ("01_learning", "five_runs", "A, B, C, D, E", None),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a lesson's folder and change into it."""

    def enter(name):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)

    return enter


@pytest.mark.parametrize(("lesson", "key", "value", "asked"), FORMS)
def test_an_answer_of_another_form_is_said(lesson, key, value, asked, folder, capsys):
    folder(lesson)
    answers.note(**{key: value})
    printed = " ".join(capsys.readouterr().out.split())
    assert ("Look again at" in printed) == (asked is not None)
    assert (asked or "") in printed


def test_every_prediction_and_every_word_without_choices_has_a_form():
    asked = {
        (lesson, key)
        for lesson, one in RUBRICS.items()
        for key, question in one.answers.items()
        if question.kind == "prediction" or (question.kind == "word" and not question.choices)
    }
    assert asked == {(lesson, key) for lesson, form in forms().items() for key in form}
    assert not any(form_fault(n, k, RUBRICS[n].answers[k], word) for n, k, word in WORDS)


def hints(lesson, key, *given):
    return [answer_hints.hint(lesson, key, RUBRICS[lesson].answers[key], each) for each in given]


def test_nobody_can_try_whether_a_word_is_right():
    """Words and letters are few, and a student could try them all."""
    for lesson, key, word in WORDS:
        choices = [*RUBRICS[lesson].answers[key].choices, word, word[::-1], "something else"]
        assert set(hints(lesson, key, *choices)) == {None}, (lesson, key)


def test_a_wrong_number_gets_a_hint_and_one_within_the_tolerance_none():
    for lesson, key, number in NUMBERS:
        relative, absolute = tolerance(RUBRICS[lesson].answers[key].tolerance)
        reach = max(absolute, relative * abs(number))
        right = (number, number - 0.99 * reach, number + 0.99 * reach)
        texts = [f"{each:.12g}" for each in right] + ["many"]
        assert hints(lesson, key, *texts) == ["", "", "", None], (lesson, key)
        wrong = [number - 4 * reach - 1, number + 4 * reach + 1, 3 * number + 5]
        wrong += [-number] if number > reach else []
        assert all(hints(lesson, key, *(f"{each:.12g}" for each in wrong))), (lesson, key)


def test_every_question_with_a_fixed_answer_has_a_hint_of_its_own():
    for lesson, expected in EXPECTED.items():
        assert all(RUBRICS[lesson].answers[key].try_ for key in expected), lesson


def test_the_released_hashes_are_those_of_the_answers_and_name_none():
    [(path, made)] = answer_hashes(ROOT).items()
    assert (ROOT / path).read_bytes() == made
    hashes = [parts for lesson in json.loads(made).values() for parts in lesson.values()]
    values = [value for parts in hashes for value in parts]
    assert len(hashes) == len(NUMBERS)
    assert all(re.fullmatch("[0-9a-f]{16}", value) for value in values)
    assert len(set(values)) == len(values)  # the same number in two questions has two hashes
