"""Attacks on the grader itself, made from outputs of real jobs and sealed again."""

import copy

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.settings import rubric
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import Lines, events
from tests.autograder.in_memory import read_bytes


def measures(lines: Lines, name: str) -> list[forge.Event]:
    return [e for e in events(lines, "measure") if e["value"]["name"] == name]


def outvoted(lines: Lines, rank: int) -> None:
    """Let the step be another than the averaged one, and let another rank deny it 40 times."""
    event = measures(lines, "update_error")[-1]
    event["value"]["value"] = 0.9
    for _ in range(40):
        new = copy.deepcopy(event)
        new["metadata"]["rank"] = rank
        new["value"]["value"] = 0.0
        lines.insert(lines.index(event) + 1, new)


def graded(lesson: str, lines: Lines) -> tuple[float, set[str], str]:
    """Return the points for speed, the findings, and the evidence level without accounting."""
    runs = read_bytes({f"{lesson}_speed_1234.out": forge.written(lines).encode()})
    judged = judge(HandIn(rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml"), runs, {}, "smoke"))
    found = examine.examine(runs, runs)
    codes = {note.code for note in (*judged.findings, *found.findings)}
    [points] = [check.score for check in judged.checks if check.id == "speed"]
    return points, codes, found.tier


# The lesson, and the rank that denies the error: one that does not exist, or the other one.
@pytest.mark.parametrize(("lesson", "rank"), [("07", 9), ("10", 1)])
def test_a_rank_that_denies_an_error_gains_nothing_and_is_seen(lesson, rank):
    lines = forge.kept(lesson, "speed")
    _, honest, _ = graded(lesson, lines)
    outvoted(lines, rank)
    points, codes, tier = graded(lesson, lines)
    assert points == 0
    assert Code.NEVER_WRITTEN in codes - honest
    assert tier in ("contradicted", "self-consistent")
