"""Judge answers against constants and against the student's own runs."""

from dataclasses import replace
from pathlib import PurePath

from autograder.codes import FindingCode, ReasonCode
from autograder.judging.conditions import metric_value, not_measured
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import finished, run_that_counts
from autograder.measuring.interval import Measure, NotMeasured, attempt, each_measured
from autograder.measuring.metrics import metric_named
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import Question, tolerance
from autograder.submissions.answer_values import as_interval, as_word, readings
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.doubts import file_of
from autograder.submissions.kinds import is_answers, is_package
from autograder.verdict import FAILED, NOT_MEASURED, PASSED, Part
from autograder.wording import with_unit


def expected_kind(question: Question, text: str) -> str:
    """Return the expected kind of answer if the text is of another kind, else an empty string."""
    if question.kind == "number" and not readings(text, question.unit):
        return "digits only, like 12.5" + (f", in {question.unit}" if question.unit else "")
    if question.kind == "interval" and as_interval(text) is None:
        return "two numbers above 0, the smaller one first, like 2400 to 2900"
    choices = [as_word(choice) for choice in question.choices]
    if question.kind == "word" and choices and as_word(text) not in choices:
        return "one word: " + " or ".join(question.choices)
    return ""


def judge_answer(hand_in: HandIn, key: str) -> Part:
    question = hand_in.rubric.answers[key]
    answer = hand_in.answers.get(key)
    expected = f"{key}: {'an' if question.kind == 'interval' else 'a'} {question.kind}"
    if answer is None or not (answer.text or answer.differs):
        return _no_answer(hand_in, key, expected)
    actual = f"{key}: {shortened(answer.text, 40)}"
    part = Part(key, FAILED, 0, expected, actual, (answer.where,), code=ReasonCode.ANSWER)
    if answer.differs:
        part = replace(part, expected=f"{key}: one answer", advice="keep one of these")
        return replace(part, actual=answer.differs, code=ReasonCode.ANSWERS_DIFFER)
    if question.kind == "prediction":
        return replace(part, status=PASSED, credit=1, actual=f"{key}: made")
    if expected_text := expected_kind(question, answer.text):
        return replace(part, advice=f"write {expected_text}")
    if question.metric is not None:
        return _of_own_run(hand_in, question, answer, part)
    if key not in hand_in.expected:
        part = replace(part, status=NOT_MEASURED, expected=f"{key}: the expected answer")
        kept = f"{actual}; the expected answer is kept elsewhere"
        return replace(part, actual=kept, code=ReasonCode.EXPECTED_KEPT)
    truths = hand_in.expected[key]
    truths = truths if isinstance(truths, list) else [truths]
    if question.kind == "interval":
        return _of_interval(question, answer, float(truths[0]), part)
    if question.kind == "number":
        right = any(_near(question, answer, float(truth)) for truth in truths)
        slack = f"a number within {question.tolerance} of" if question.tolerance else "exactly"
        expected = f"{key}: {slack} the right one"
    else:
        right = as_word(answer.text) in {as_word(str(truth)) for truth in truths}
        expected = f"{key}: the right word"
    actual += "" if right else ", which is not it"
    return _judged(replace(part, expected=expected, actual=actual), question, right)


def _judged(part: Part, question: Question, right: bool) -> Part:
    return replace(part, status=PASSED, credit=1) if right else replace(part, advice=question.try_)


def _of_interval(question: Question, answer: WrittenAnswer, truth: float, part: Part) -> Part:
    """Judge an interval: it must contain the true value and must not be too wide."""
    low, high = as_interval(answer.text) or (0.0, 0.0)  # an answer of this kind has ends
    widest = question.widest or 1.0
    expected = f"contains the true value, upper end at most {widest:g} times the lower end"
    actual = f"{part.name}: {low:g} to {high:g}"
    if wide := high > low * widest * (1 + 1e-9):
        actual += f", the upper end is {high / low:.3g} times the lower end"
    if outside := not low <= truth <= high:
        actual += f", and the true value is {'below' if truth < low else 'above'} it"
    part = replace(part, expected=f"{part.name}: {expected}", actual=actual)
    return _judged(part, question, not (wide or outside))


def _no_answer(hand_in: HandIn, key: str, expected: str) -> Part:
    hint = "in answers.txt, write one line `id = value` for each question"
    actual = "no answer in answers.txt, or no such file"
    part = Part(key, FAILED, 0, expected, actual, (), hint, code=ReasonCode.NO_ANSWER)
    names = {note: PurePath(file_of(note)).name for note in hand_in.unseen}
    unseen = [note for note, name in names.items() if is_answers(name) or is_package(name)]
    if hand_in.answers or not unseen:
        return part
    actual, advice = f"no readable answers.txt: {unseen[0].actual}", unseen[0].advice
    status = NOT_MEASURED if unseen[0].code == FindingCode.FILE_EMPTY else FAILED
    return replace(part, status=status, actual=actual, advice=advice)


def _of_own_run(hand_in: HandIn, question: Question, answer: WrittenAnswer, part: Part) -> Part:
    """Judge a number against the student's own finished runs."""
    values = attempt(own_values, hand_in, question)
    if isinstance(values, NotMeasured):
        missing = not_measured(part.name, f"{part.name}: a number from your own run", values)
        return replace(missing, where=missing.where or part.where)
    match = next((value for value in values if _near(question, answer, value.value)), None)
    truth = match or values[0]
    slack = f" ± {question.tolerance}" if question.tolerance else ""
    expected = f"{part.name}: {with_unit(truth.value, truth.unit)}{slack}, from your own record"
    where = (answer.where, *truth.where[:2])
    part = replace(part, expected=expected, where=where, code=ReasonCode.OWN_RECORD)
    return _judged(part, question, match is not None)


def own_values(hand_in: HandIn, question: Question) -> list[Measure]:
    """Return the metric's values for the run that counts and for its repeats: any may be meant."""
    metric, name = question.metric or "", question.of or ""
    runs = [run_that_counts(hand_in, name)]
    # A metric of all runs already uses the repeats.
    runs += [] if metric_named(metric).all_runs else finished(hand_in, name)

    def value_of(run: Run) -> Measure:
        value = metric_value(hand_in, metric, name, run, question.at, question.base)
        if isinstance(value, str):
            raise NotMeasured(f"{metric} is a word")
        return value

    return each_measured(value_of, runs)


def _near(question: Question, answer: WrittenAnswer, value: float) -> bool:
    """Return whether at least one interpretation of an answer is close to a value."""
    relative, absolute = tolerance(question.tolerance)
    slack = max(absolute, relative * abs(value), 1e-9 * abs(value))
    return any(abs(number - value) <= slack for number in readings(answer.text, question.unit))
