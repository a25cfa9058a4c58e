"""Rubrics: the course's are complete, and every mistake is reported with file and line."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.errors import SettingsError
from autograder.settings import rubric

GOOD = """\
lesson: "02"
title: A lesson
points: 2
runs:
  keras: {where: {source: keras}}
checks:
  - id: params
    title: The right network
    points: 1
    require:
      - {metric: params, of: keras, equal: 407050}
  - id: answers
    title: Questions
    points: 1
    answers: [gpu]
answers:
  gpu:
    ask: Is it faster?
    kind: word
    choices: [yes, no]
"""


def write(tmp_path, text=GOOD, expected="gpu: no\n"):
    path = tmp_path / "02.yaml"
    path.write_text(text)
    (tmp_path / "expected").mkdir(exist_ok=True)
    (tmp_path / "expected" / "02.yaml").write_text(expected)
    return path


def test_words_stay_words(tmp_path):
    loaded = rubric.load_rubric(write(tmp_path))
    assert loaded.answers["gpu"].choices == ["yes", "no"]
    assert loaded.lesson == "02"


@pytest.mark.parametrize("path", sorted(rubric.FOLDER.glob("[0-9]*.yaml")), ids=lambda p: p.name)
def test_the_courses_rubrics_are_worth_ten_points(path):
    loaded = rubric.load_rubric(path)
    assert loaded.lesson == path.stem
    assert loaded.points == 10
    rubric.load_expected(rubric.FOLDER / "expected" / path.name, loaded)


# The replaced text, its replacement, the reported line, and words of the message.
MISTAKES = [
    ("points: 2", "points: 3", 3, "sum to 2 points"),
    ("source: keras}", "source: keras}, or_format: [kers]", 5, "no format is called 'kers'"),
    ("{source: keras}}", "{world_sise: 4}, or_format: [keras]}", 5, "states 'world_sise'"),
    ("source: keras}", "source: keras}, largest: 'measure:error'", 5, "measure one run by itself"),
    ("source: keras}", "source: keras}, program_of: keras", 5, "has a program_of of its own"),
    ("title: A lesson", "titel: A lesson", 2, "no such field"),
    ("answers: [gpu]", "answers: [gpu]\n    if_present: true", 16, "never counts"),
    ("metric: params", "metric: qqq", 11, "no metric is called 'qqq'"),
    ("equal: 407050", "equal: 1, tolerence: 2", 11, "tolerence: no such field; known are metric,"),
    ("of: keras", "of: torch", 11, "no run 'torch'"),
    ("equal: 407050", "equal: 1, at_least: 2", 11, "give one of"),
    ("metric: params", "metric: speedup", 11, "needs a base"),
    ("metric: params", "base: keras, metric: params", 11, "has no base"),
    ("metric: params", "at: {size: 2}, metric: params", 11, "can have `at: {}` and nothing else"),
    ("metric: params", "at: {size: 2}, metric: study_sizes", 11, "can have `at: {repeats"),
    ("metric: params", "at: {size: 2}, metric: time_to_accuracy", 11, "needs `at: {accuracy"),
    ("equal: 407050", "at_least: 2, half_from: {metric: epochs, of: torch}", 11, "no run 'torch'"),
    ("equal: 407050", "equal: {smoke: 3}", 11, "both smoke and full"),
    ("equal: 407050", "equal: 1, tolerance: 2 percent", 11, "percentage"),
    ("equal: 407050", "equal: 1, tolerance: -1", 11, "is not negative"),
    ("points: 1\n    require", "points: one\n    require", 9, "should be a valid number; found"),
    ("answers: [gpu]", "answers: [cpu]", 15, "no 'cpu' under answers"),
    ("kind: word", "kind: essay", 19, "prediction"),
    ("title: Questions", "title: Questions\n    title: Twice", 14, "twice"),
    ("checks:", "checks: [", 7, "this is not valid YAML"),
    ("title: A lesson", f"title: {2000 * '['}{2000 * ']'}", 1, "nested too deeply"),
    ("id: answers", "id: params", 12, "same id 'params'"),
    ('lesson: "02"', 'lesson: "03"', 1, "lesson 03 belongs in 03.yaml"),
    ('lesson: "02"', "lesson: lab 1", 1, "lesson: String should match pattern"),
    ("equal: 407050", "equal: 1, only: ful", 11, "should be 'smoke' or 'full'; found 'ful'"),
    ("equal: 407050", "equal: [1]", 11, "equal.value: should be a valid number, or"),
    ("equal: 407050", "at_least: {smoke: 1, full: 80%}", 11, "only `equal` compares words"),
    ("  gpu:", "  cpu: {ask: Q, kind: number}\n  gpu:", 17, "uses the answer"),
    ("checks:", "formats: [{name: a, templates: ['took {ab} s']}]\nchecks:", 6,
     "format a, template 'took {ab} s': no field is called {ab}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "line", "words"), MISTAKES, ids=[m[1][:60] for m in MISTAKES]
)
def test_every_mistake_is_named_with_its_line(tmp_path, old, new, line, words):
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(SettingsError) as caught:
        rubric.load_rubric(path)
    message = caught.value.message
    assert words in message
    assert any(text.startswith(f"{path}:{line}:") for text in message.split("\n")), message


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("gpu: maybe\n", "one of"),
        ("gpu: 3\n", "needs a word"),
        ("cpu: no\n", "no answer 'cpu'"),
        ("{}\n", "no value for 'gpu'"),
        ("[1]\n", "expected `id: value`"),
    ],
)
def test_mistakes_in_the_expected_answers(tmp_path, expected, words):
    loaded = rubric.load_rubric(write(tmp_path, expected=expected))
    with pytest.raises(SettingsError, match=words):
        rubric.load_expected(tmp_path / "expected" / "02.yaml", loaded)


def test_the_command_checks_and_explains(tmp_path):
    path = write(tmp_path)
    result = CliRunner().invoke(main, ["rubric", "check", str(path)])
    assert result.exit_code == 0, result.output
    assert "2 points" in result.output
    (tmp_path / "expected/02.yaml").unlink()
    result = CliRunner().invoke(main, ["rubric", "check", str(path)])
    assert result.exit_code == 2
    assert str(tmp_path / "expected/02.yaml") in result.output
    path.write_text(GOOD.replace("metric: params", "metric: parms"))
    result = CliRunner().invoke(main, ["rubric", "check", str(path)])
    assert result.exit_code == 2
    assert "02.yaml:11" in result.output
    assert "parms" in result.output
    path.unlink()
    result = CliRunner().invoke(main, ["rubric", "check", str(tmp_path)])
    assert (result.exit_code, result.output) == (2, f"Error: {tmp_path} has no rubric NN.yaml\n")
