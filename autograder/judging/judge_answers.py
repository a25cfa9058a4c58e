"""Answers against constants and against what the student's own runs say."""

import difflib

from autograder.judging.case import Case, chosen, finished, metric_value, shown
from autograder.measuring.measure import Measure, NotMeasured, each_measured
from autograder.measuring.metrics import Value, metric_named
from autograder.records import Run, Where
from autograder.safe_text import printable
from autograder.settings.rubric import Answer, tolerance
from autograder.submissions.answers import Given, as_number, as_word
from autograder.verdict import FAILED, NOT_MEASURED, PASSED, Part

EXAMPLE = "12.5"  # of a number; the expected answer of no question
ALIKE = 0.8  # from here on a name is the other one misspelt: predict_gpu and predict_steps are 0.75


def of_another_kind(question: Answer, text: str) -> str:
    """What is asked, when the text is no answer of its kind; empty when it is one."""
    if question.kind == "number" and as_number(text, question.unit) is None:
        return f"digits only, like {EXAMPLE}" + (f", in {question.unit}" if question.unit else "")
    choices = [as_word(choice) for choice in question.choices]
    if question.kind == "word" and choices and as_word(text) not in choices:
        return "one word: " + " or ".join(question.choices)
    return ""


def misspelt_as(given: Case, key: str) -> str | None:
    """An id that no lesson knows, if this one of all is what it looks most like."""
    asked = given.rubric.answers
    unknown = sorted(given.answers.keys() - {*asked, *given.other_ids})
    near = difflib.get_close_matches(key, unknown, 1, ALIKE)
    if near and difflib.get_close_matches(near[0], sorted(asked.keys() - given.answers), 1) == [
        key
    ]:
        return near[0]
    return None


def judge_answer(given: Case, key: str) -> Part:
    question = given.rubric.answers[key]
    answer = given.answers.get(key)
    if answer is None or not answer.text:
        if misspelt := misspelt_as(given, key):
            where: tuple[Where, ...] = (given.answers[misspelt].where,)
            hint = f"is `{misspelt}` meant? The id is `{key}`"
        else:
            where = (Where(given.answers_file, 0),) if given.answers_file else ()
            hint = "write a line `id = value` for each into answers.txt"
        found = "no answer" if given.answers_file else "no answers.txt was handed in"
        return Part(key, FAILED, 0, f"{key}: a {question.kind}", found, where, hint)
    places: tuple[Where, ...] = (answer.where,)
    if question.kind == "prediction":
        return Part(key, PASSED, 1, f"{key}: a prediction", f"{key}: made", places)
    said = printable(answer.text, 40)
    if asked := of_another_kind(question, answer.text):
        hint = f"write {asked}"
        return Part(key, FAILED, 0, f"{key}: a {question.kind}", f"{key}: {said}", places, hint)
    if question.kind == "number":
        return _judge_number(given, key, question, answer, said)
    if key not in given.expected:
        return _not_here(key, said, places)
    right = as_word(answer.text) == as_word(str(given.expected[key]))
    found = f"{key}: {said}" + ("" if right else ", which is not it")
    expected = f"{key}: the right word"
    hint = "" if right else question.try_
    return Part(key, PASSED if right else FAILED, float(right), expected, found, places, hint)


def _not_here(key: str, said: str, places: tuple[Where, ...]) -> Part:
    found = f"{key}: {said}; the expected answer is kept elsewhere"
    return Part(key, NOT_MEASURED, 0, f"{key}: the expected answer", found, places)


def _judge_number(given: Case, key: str, question: Answer, answer: Given, said: str) -> Part:
    """A number against a constant, or against what the student's own finished runs say."""
    places: tuple[Where, ...] = (answer.where,)
    number = as_number(answer.text, question.unit)
    assert number is not None  # else it is of another kind
    relative, absolute = tolerance(question.tolerance)

    def near(value: float) -> bool:
        return abs(number - value) <= max(absolute, relative * abs(value), 1e-9 * abs(value))

    if question.metric is None and key not in given.expected:
        return _not_here(key, said, places)
    if question.metric is None:
        right = near(float(given.expected[key]))
        expected = f"{key}: a number within {question.tolerance} of the right one"
        found = f"{key}: {said}" + ("" if right else ", which is not it")
    else:
        name = question.of or ""
        expected = f"{key}: a number from your own run"
        try:
            last = chosen(given, name)
        except NotMeasured as missing:
            return Part(key, FAILED, 0, expected, missing.reason, missing.where, missing.try_)
        try:
            usable = own_values(given, question, last)
        except NotMeasured as missing:
            return Part(key, NOT_MEASURED, 0, expected, missing.reason, places)
        match = next((v for v in usable if near(v.value)), None)
        right, truth = match is not None, match or usable[0]
        unit = f" {truth.unit}" if truth.unit else ""
        expected = f"{key}: {shown(truth.value)}{unit} ± {question.tolerance}, from your own record"
        found = f"{key}: {said}"
        places += truth.where[:2]
    hint = "" if right else question.try_
    return Part(key, PASSED if right else FAILED, float(right), expected, found, places, hint)


def own_values(given: Case, question: Answer, last: Run) -> list[Measure]:
    """The metric of the run that counts and of its repeats: any of them may be meant."""
    metric, name = question.metric or "", question.of or ""
    repeats = [run for run in finished(given, name) if run is not last]
    if metric_named(metric).all_runs:
        repeats = []  # it is of all of them already

    def value_of(run: Run) -> Value:
        return metric_value(given, metric, name, run, question.at, question.base)

    values = each_measured(value_of, [last, *repeats])
    numbers = [value for value in values if isinstance(value, Measure)]
    if not numbers:
        raise NotMeasured("a word")
    return numbers
