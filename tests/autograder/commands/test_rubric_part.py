"""`autograder rubric part`: a rubric made of some of a lesson's checks."""

import pytest
import yaml
from click.testing import CliRunner

from autograder.cli import main
from autograder.settings.rubric import FOLDER, files_in, load_expected, load_rubric


def part(*words):
    return CliRunner().invoke(main, ["rubric", "part", *map(str, words)])


@pytest.mark.parametrize("path", files_in(FOLDER), ids=lambda path: path.stem)
def test_all_checks_are_the_rubric_itself(path, tmp_path):
    assert part(path.stem, "--out", tmp_path).exit_code == 0
    asked = load_rubric(path)
    assert load_rubric(tmp_path / path.name) == asked
    expected = FOLDER / "expected" / path.name
    copied = load_expected(tmp_path / "expected" / path.name, asked)
    assert copied == load_expected(expected, asked)
    for name in (f"released/{path.stem}.json", f"expected/gaps/{path.stem}.json"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_some_checks_are_worth_their_points(tmp_path):
    whole = load_rubric(FOLDER / "07.yaml")
    worth = {check.id: check.points for check in whole.checks}
    assert part("7", "speed", "answers", "--out", tmp_path).exit_code == 0
    found = load_rubric(tmp_path / "07.yaml")
    assert {check.id for check in found.checks} == {"speed", "answers"}
    assert found.points == worth["speed"] + worth["answers"]
    assert found.answers == whole.answers
    less = tmp_path / "less"
    assert part("07", "speed", "--out", less).exit_code == 0
    assert load_rubric(less / "07.yaml").answers == {}
    assert not yaml.safe_load((less / "expected" / "07.yaml").read_text())


def test_a_rubric_that_somebody_has_changed_stays(tmp_path):
    assert part("07", "speed", "--out", tmp_path).output.endswith(" points, 1 check\n")
    assert part("07", "speed", "--out", tmp_path).exit_code == 0  # the same part once more
    mine = (tmp_path / "07.yaml").read_text().replace("points: 3", "points: 5")
    (tmp_path / "07.yaml").write_text(mine)
    again = part("07", "speed", "--out", tmp_path)
    assert again.exit_code == 2
    assert "already exists with other contents: delete it" in again.output
    assert (tmp_path / "07.yaml").read_text() == mine


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("07", "sped"), "has no check 'sped'; there are: ranks, equal,"),
        (("07", "speed", "--out", FOLDER), "would overwrite the rubric itself"),
    ],
)
def test_one_sentence_on_a_slip(words, said, tmp_path):
    done = part(*words, *(() if "--out" in words else ("--out", tmp_path)))
    assert done.exit_code == 2
    assert said in done.output
    assert not list(tmp_path.iterdir())


def test_checks_of_one_profile_alone_are_no_rubric(tmp_path):
    data = yaml.safe_load((FOLDER / "05.yaml").read_text())
    data["checks"] += [c | {"id": f"only-{p}", "only": p} for p in ("smoke", "full")
                       for c in data["checks"][:1]]  # fmt: skip
    data["points"] += data["checks"][0]["points"]
    (tmp_path / "05.yaml").write_text(yaml.safe_dump(data))
    done = part("05", "only-full", "--rubrics", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "worth 0 points in smoke" in done.output
