"""Tests of lesson 03's program: one sentence for each mistake."""

import pytest
from real_runs import ROOT, run_together

LESSON = ROOT / "solutions" / "03_baseline"


@pytest.mark.parametrize("typed", ["3.2", "03.2", "3.4b"])
@pytest.mark.parametrize("where", [[], ["--in", "."]])
def test_an_exercise_instead_of_a_lesson_is_told_what_to_type(typed, where, lessons_command):
    done = lessons_command("check", typed, *where)
    assert done.exit_code == 2
    assert f"{typed} is an exercise" in done.output
    assert " ".join(["Type: lessons check 03", *where]) in done.output


@pytest.mark.slow
def test_mistakes_end_with_one_sentence(tmp_path):
    mistakes = {
        "--model ResNet49V2": "Keras Applications has no network ResNet49V2",
        "--size 16": "--model ResNet50V2 --size 16: Input size must be at least 32x32",
    }
    starts = [
        (tmp_path, LESSON / "train.py", ["--train-samples", "64", *words.split()])
        for words in mistakes
    ]
    for said, sentence in zip(run_together(1, starts), mistakes.values(), strict=True):
        assert sentence in said
