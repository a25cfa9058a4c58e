"""`autograder new-rubric`: a rubric from five answers, given as options or typed."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.settings.rubric import load_rubric
from tests.autograder.make_record import make_record, write_lines

ANSWERS = ["--title", "Shears", "--workers", "1,2", "--accuracy", "0.9"]
LINE = "pass {epoch} of {of} took {seconds} s, loss {train_loss}"


def new_rubric(path, *words, typed=None):
    return CliRunner().invoke(main, ["new-rubric", str(path), *words], input=typed)


@pytest.mark.parametrize(
    ("words", "typed", "points", "templates"),
    [
        ([*ANSWERS, "--speedup", "1.5"], "", 10, []),
        ([*ANSWERS, "--speedup", "1.5", "--line", LINE], "", 10, [LINE]),
        ([], f"Shears\n2 1\n0.9\n1.5\n{LINE}\n\n", 10, [LINE]),
        ([], "Shears\n\n0.9\n\n\n", 4, []),
    ],
)
def test_it_passes_the_check(tmp_path, words, typed, points, templates):
    path = tmp_path / "rubrics/shears.yaml"
    done = new_rubric(path, *words, typed=typed)
    assert done.exit_code == 0, done.output
    rubric = load_rubric(path)
    assert (rubric.lesson, rubric.title, rubric.points) == ("shears", "Shears", points)
    assert [line for one in rubric.formats for line in one.templates] == templates


def test_it_grades(tmp_path, grade):
    """Two runs that printed their own lines, and one with a record on one worker only."""
    words = [*ANSWERS, "--speedup", "1.5", "--line", LINE, "--line", "on {workers} workers"]
    assert new_rubric(tmp_path / "rubrics/shears.yaml", *words).exit_code == 0
    for size, seconds in ((1, 8.0), (2, 5.0)):
        epochs = [f"pass {n} of 3 took {seconds} s, loss {1 / n}" for n in (1, 2, 3)]
        lines = [f"on {size} workers", *epochs, "Test accuracy: 0.95"]
        write_lines(tmp_path / f"class/ada/shears/{size}.out", lines)
    write_lines(tmp_path / "class/ben/shears/1.out", make_record(lesson="shears", size=1))
    rows = {
        row[0]: row[2] for row in grade(tmp_path / "class", "--rubrics", tmp_path / "rubrics").table
    }
    assert rows == {"ada": "10/10", "ben": "0/10"}


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["--workers", "one"], "1,2,4"),
        (["--workers", "0,2"], "1,2,4"),
        (["--accuracy", "95"], "0<=x<=1"),
        (["--speedup", "8"], "--speedup 8"),
        (["--line", "pass {number}"], "{number}"),
    ],
)
def test_a_wrong_answer_writes_nothing(tmp_path, words, word):
    done = new_rubric(tmp_path / "r/a.yaml", *ANSWERS, *words, "--speedup", "1.5", *words)
    assert done.exit_code == 2
    assert word in done.stderr
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_rubric_is_never_replaced(tmp_path):
    (tmp_path / "a.yaml").write_text("mine")
    assert new_rubric(tmp_path / "a.yaml", *ANSWERS, "--speedup", "0").exit_code == 2
    assert (tmp_path / "a.yaml").read_text() == "mine"
