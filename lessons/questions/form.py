"""Check the form of an answer to any kind of question."""

from autograder.judging import judge_answers
from autograder.settings.rubric_schema import Question
from lessons.questions import prediction_forms


def of_another_kind(lesson: str, name: str, question: Question, text: str) -> str:
    """Return the expected form if the answer does not have it; otherwise ""."""
    if question.kind == "prediction":
        return prediction_forms.of_another_form(lesson, name, text)
    return judge_answers.expected_kind(question, text)
