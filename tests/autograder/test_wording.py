"""Numbers with their units and joined texts, as students and instructors see them."""

import pytest

from autograder.wording import enumerated, sentences, with_unit


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (1, "ranks", "1 rank"),
        (0, "ranks", "0 ranks"),
        (1, "losses", "1 loss"),
        (1, "loss", "1 loss"),
        (1, "ms", "1 ms"),
        (1, "s", "1 s"),
        (1.5, "s", "1.5 s"),
        (407050, "parameters", "407,050 parameters"),
        (1, "", "1"),
    ],
)
def test_one_of_them_is_singular(value, unit, told):
    assert with_unit(value, unit) == told


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        (["ada", "ben"], "ada, ben"),
        (["Baker, Tom", "Chen, Wei"], "Baker, Tom; Chen, Wei"),
        (["ada", "ben", "cyd"], "ada, ben and 1 more"),
    ],
)
def test_names_with_commas_stay_apart(names, joined):
    assert enumerated(names, 2) == joined


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        ([], ""),
        (["keep one of these"], "keep one of these"),
        (["keep one of these", "Where are they?"], "Keep one of these. Where are they?"),
        (["answers.txt is empty", "Print them."], "answers.txt is empty. Print them."),
    ],
)
def test_several_texts_become_sentences(texts, joined):
    assert sentences(texts) == joined
