"""The clinic's recordings: each shows its fault, and a new seed makes others."""

from collections import Counter

import pytest

from autograder.settings.strict_yaml import read_yaml
from tests.lessons.incidents.__main__ import FOLDER
from tests.lessons.incidents.kinds import KINDS
from tests.lessons.incidents.pages import expected, page
from tests.lessons.incidents.record import draw, run
from tests.lessons.incidents.still import what_is_wrong

RECORDED = sorted(path.parent for path in FOLDER.glob("*/expected.yaml"))


def answers_of(folder):
    return {part: list(map(str, of)) for part, of in read_yaml(folder / "expected.yaml")[0].items()}


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_a_recording_shows_its_fault(folder):
    text = (folder / "recording.rec").read_text()
    assert what_is_wrong(text, answers_of(folder)) == ""


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_the_answers_are_lines_of_the_recording(folder):
    lines = (folder / "recording.rec").read_text().splitlines()
    answers = answers_of(folder)
    assert all(0 < int(line) <= len(lines) for line in answers["proof"])
    assert all(0 < int(line) < lines.index("===== accounting =====") for line in answers["line"])
    assert str(FOLDER.parents[2]) not in "\n".join(lines)


def test_there_are_thirty_of_ten_kinds():
    kinds = Counter(answers_of(folder)["kind"][0] for folder in RECORDED)
    assert set(kinds) == set(KINDS)
    assert sum(kinds.values()) >= 30
    assert min(kinds.values()) >= 3


def test_another_seed_draws_other_ranks_steps_and_lines():
    facts = [
        [(each.kind, each.ranks, each.culprit, each.step, each.program.marked) for each in draw(n)]
        for n in (1, 2)
    ]
    assert facts[0] != facts[1]
    assert draw(1) == draw(1)


def on_each_change(kind):
    return pytest.mark.slow if kind == "skipped" else pytest.mark.nightly


@pytest.mark.parametrize("kind", [pytest.param(n, marks=on_each_change(n)) for n in sorted(KINDS)])
def test_a_kind_can_be_recorded_again(kind):
    alike = [each for each in draw(8) if each.kind == kind]
    incident = min(alike, key=lambda each: each.ranks)  # each rank loads PyTorch
    text = page(incident, run(incident, 8))
    assert what_is_wrong(text, expected(incident, text)) == ""
