"""In which form a question is asked, whatever kind of question it is."""

from autograder.judging import judge_answers
from autograder.settings.rubric_schema import Question
from lessons.questions import prediction_forms


def of_another_kind(lesson: str, name: str, question: Question, text: str) -> str:
    """Return in which form the rubric or the page asks, when this is another one."""
    if question.kind == "prediction":
        return prediction_forms.of_another_form(lesson, name, text)
    return judge_answers.expected_kind(question, text)
