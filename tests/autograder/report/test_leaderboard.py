"""The leaderboard: opt-in, with pseudonyms and shared places where intervals overlap."""

import csv
import io
import json
import zipfile

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.report.leaderboard import Entry, places, speed_graded
from autograder.settings import rubric
from autograder.verdict import Point
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record, some_rounds, write_lines

FACTS = {"lesson": "07", "source": "speed", "model": "resnet20", "params": 273658, "seconds": ()}
ERROR = {"name": "update_error", "value": 0.0, "unit": "", "steps": 3}

# (value, low, high) of each student in order, and their places.
PLACES = [
    ([(1.9, 1.8, 2.0), (1.5, 1.4, 1.6)], [1, 2]),
    ([(1.9, 1.8, 2.0), (1.85, 1.7, 1.9), (1.5, 1.4, 1.6)], [1, 1, 3]),
    ([(1.9, 1.8, 2.0), (1.7, 1.6, 1.85), (1.5, 1.4, 1.65)], [1, 1, 2]),
    ([(1.9, 1.0, 2.0), (1.85, 1.84, 1.86), (1.5, 1.5, 1.5)], [1, 1, 2]),
    ([(1.5, 1.5, 1.5), (1.5, 1.5, 1.5)], [1, 1]),
    ([], []),
]


@pytest.mark.parametrize(("speedups", "expected"), PLACES)
def test_who_may_be_as_fast_has_the_same_place(speedups, expected):
    made = places([Entry(f"n{i}", Point(*s), "confirmed", "") for i, s in enumerate(speedups)])
    assert [one.place for one in made] == expected
    assert [one.speedup.value for one in made] == sorted((s[0] for s in speedups), reverse=True)


def speed_job(folder, together, **more):
    seconds = [(0.40 + n / 1000, 0.42, together + n / 1000) for n in range(12)]
    rounds = (ERROR, *some_rounds(*seconds))
    lines = make_record(**{"total": 100.0} | FACTS | more, size=2, measures=rounds)
    write_lines(folder / "07" / "07_speed_1.out", lines)


@pytest.fixture
def board(tmp_path, grade):
    for number, (name, together) in enumerate((("ada", 0.42), ("ben", 0.60), ("eve", 0.43))):
        speed_job(tmp_path / "class" / name, together, run=f"{number}" * 8, job_id=str(number))
    (tmp_path / "roster.csv").write_text("student,name\nada,Ada L.\nben,Ben M.\neve,Eve N.\n")

    def made(names):
        path = tmp_path / "names.csv"
        path.write_text("student,pseudonym\n" + names)
        words = (
            "--profile",
            "smoke",
            "--roster",
            tmp_path / "roster.csv",
            *setting("leaderboard", path),
        )
        return grade(tmp_path / "class", *words)

    return made


def test_only_those_who_want_to_by_the_names_that_they_chose(board):
    result = board("ada,quick <b>fox\nben,=snail\n")
    assert "leaderboard.html: 2 of 2 students who asked to be on it" in result.stderr
    page = (result.folder / "leaderboard.html").read_text()
    for real in ("ada", "Ada", "ben", "eve", "<script", "<b>fox"):
        assert real not in page.partition("<body")[2]
    lines = list(csv.reader(io.StringIO((result.folder / "leaderboard.csv").read_text())))
    told = [(line[0], line[2], line[3], line[4], line[8]) for line in lines[1:]]
    assert told == [
        ("07", "2", "1", "quick <b>fox", "self-consistent"),
        ("07", "2", "2", "'=snail", "self-consistent"),
    ]
    assert "self-consistent" in page


def test_nobody_is_on_it_unasked(board, tmp_path, grade):
    assert not (
        grade(tmp_path / "class", "--profile", "smoke").folder / "leaderboard.html"
    ).exists()
    result = board("zoe,owl\n")
    assert "0 of 1 student who asked to be on it; not in this class: zoe" in result.stderr
    assert "Nobody has a speed to show yet" in (result.folder / "leaderboard.html").read_text()


# Names as rosters and people write them, and a pseudonym that is the student's own name.
@pytest.mark.parametrize("known", ["Ada L.", "ada_l", '"L., Ada"', "ada"])
def test_the_roster_knows_who_is_meant(board, known):
    assert "1 of 1 student who asked to be on it\n" in board(f"{known},Ada L.\n").stderr


@pytest.mark.parametrize("name", ["ben", "BEN", "Ben_"])
def test_without_a_roster_nobody_takes_the_name_of_who_handed_in(board, tmp_path, grade, name):
    names = tmp_path / "names.csv"
    names.write_text(f"student,pseudonym\nada,{name}\n")
    result = grade(tmp_path / "class", "--profile", "smoke", *setting("leaderboard", names))
    assert result.exit_code == 2
    assert f"{name!r} is the name of somebody else in the class" in result.stderr
    assert not (result.folder / "index.html").exists()


# Lesson -> the runs whose speed a rubric grades, in each profile. No other lesson has any.
SPEEDS = {
    "smoke": {"07": {"speed"}, "10": {"speed"}, "12": {"weak"}},
    "full": {
        "05": {"several"},
        "07": {"speed", "nodes"},
        "08": {"nodes"},
        "10": {"speed"},
        "12": {"weak", "epoch"},
    },
}


@pytest.mark.parametrize("profile", SPEEDS)
def test_boards_are_of_the_runs_whose_speed_is_graded(profile):
    rubrics = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(rubric.FOLDER)}
    found = speed_graded(rubrics, profile)
    assert {lesson: runs for lesson, runs in found.items() if runs} == SPEEDS[profile]


def test_other_runs_of_several_ranks_have_no_board(board, tmp_path):
    folder = tmp_path / "class" / "ada" / "07"
    about = {"lesson": "07", "source": "keras-horovod", "samples": 1600, "train_samples": 1600}
    for size, more in ((1, {"run": "a" * 8}), (2, {"run": "b" * 8, "seconds": (4.0, 3.0, 3.0)})):
        lines = make_record(**about | {"size": size, "job_id": str(70 + size)} | more)
        write_lines(folder / f"07_{size}.out", lines)
    result = board("ada,fox\n")
    grade = json.loads((result.folder / "records" / "ada.json").read_text())["grades"][0]
    assert {run["name"] for run in grade["runs"] if run["speedup"]} == {"keras"}
    lines = list(csv.reader(io.StringIO((result.folder / "leaderboard.csv").read_text())))
    assert [line[1] for line in lines[1:]] == ["speed"]


def test_what_is_contradicted_is_not_on_it(board, tmp_path):
    speed_job(tmp_path / "class" / "eve", 0.21, run="e" * 8, job_id="9", total=1.0)
    result = board("ben,snail\neve,too fast\n")
    assert "1 of 2 students who asked to be on it" in result.stderr
    assert "too fast" not in (result.folder / "leaderboard.html").read_text()


MISTAKES = [
    ("ada,fox\nben,FOX\n", "'FOX' is also the pseudonym of ada"),
    ("ada,Ben M.\n", "'Ben M.' is the name of somebody else in the class"),
    ("ada,eve\n", "'eve' is the name of somebody else in the class"),
    ('ada,"M., Ben"\n', "'M., Ben' is the name of somebody else in the class"),
    ("ada,fox\nada,owl\n", "ada appears twice in this file"),
    ("ada,fox\nAda L.,owl\n", "ada appears twice in this file"),
    ("ada,\n", "`pseudonym` is empty"),
]


@pytest.mark.parametrize(("names", "said"), MISTAKES)
def test_slips_are_found_before_anything_is_graded(board, names, said):
    result = board(names)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (result.folder / "index.html").exists()


def test_gradescope_has_its_own(tmp_path):
    speed_job(tmp_path / "class" / "ada" / "07", 0.42)
    hand_in(tmp_path / "class" / "ada" / "08")  # without a speed, and so without evidence of it
    words = ["grade", tmp_path / "class", "--profile", "smoke"]
    results = tmp_path / "results.json"
    for more, expected in (
        ([], None),
        (["--gradescope-leaderboard"], ["07 speed: speedup on 2 ranks", "07 evidence"]),
    ):
        CliRunner().invoke(main, [*map(str, words), "--gradescope", str(results), *more])
        board = json.loads(results.read_text()).get("leaderboard")
        assert (board and [one["name"] for one in board]) == expected
    assert 1.8 < board[0]["value"] < 2
    assert board[0]["order"] == "desc"
    for flag, there in (([], False), (["--leaderboard"], True)):
        target = tmp_path / "07.zip"
        CliRunner().invoke(main, ["gradescope-zip", "07", "--out", str(target), *words[2:], *flag])
        script = zipfile.ZipFile(target).read("run_autograder").decode()
        assert ("--gradescope-leaderboard" in script) == there
