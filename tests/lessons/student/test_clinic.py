"""`lessons clinic`, and a student's own incidents."""

import pytest
from click.testing import CliRunner

from lessons.cli import main
from lessons.student import clinic_command
from lessons.toolkit import incidents
from lessons.toolkit.checks.shared.check import CheckFailed


def test_practice_says_after_each_try_what_is_right(tmp_path, monkeypatch):
    answers = tmp_path / "incidents.yaml"
    answers.write_text("a01: {rank: [2], line: [18, 19], kind: [killed], proof: [7]}\n")
    monkeypatch.setattr(clinic_command, "ANSWERS", answers)
    done = CliRunner().invoke(main, ["clinic", "--practice"], input="2\n19\nlate\n7\n")
    assert done.exit_code == 0, done.output
    assert done.output.count(": right") == 3
    assert "kind: wrong: killed" in done.output


def test_a_release_has_no_answers_to_practise_with(tmp_path, monkeypatch):
    monkeypatch.setattr(clinic_command, "ANSWERS", tmp_path / "nowhere.yaml")
    done = CliRunner().invoke(main, ["clinic", "--practice"])
    assert done.exit_code == 1
    assert "Traceback" not in done.output


def test_the_id_and_its_draw_are_noted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = incidents.draw("grace")
    assert len({*names}) == 6
    noted = (tmp_path / "answers.txt").read_text()
    assert "my_id = grace\n" in noted
    assert f"my_draw = {' '.join(names)}\n" in noted


@pytest.mark.parametrize("nobody", ["", "my-login"])
def test_without_an_own_id_nothing_is_drawn(nobody, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckFailed):
        incidents.draw(nobody)
    assert not (tmp_path / "answers.txt").exists()
