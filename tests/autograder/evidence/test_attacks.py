"""Attacks on the grader itself, made from outputs of real jobs and sealed again.

Each row says what a forger does, the check that it aims at, and what the grader must say.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.reading.files import read_bytes
from autograder.settings import rubric
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import Lines, events


@dataclass(frozen=True)
class Attack:
    lesson: str
    change: Callable[[Lines], None]
    code: str = ""  # a finding; empty if none is expected
    most: float = 3.0  # points of the check at most; more only beside the finding


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


def disturbed(lines: Lines) -> None:
    """Make together slow in all rounds, and fast in two of them."""
    for number, event in enumerate(measures(lines, "round")):
        event["value"]["value"] *= 0.2 if number in (3, 7) else 2.5


def more_rounds(lines: Lines) -> None:
    """Append as many rounds again, all better, in the time that the run took."""
    real = measures(lines, "round")
    at = lines.index(real[-1]) + 1
    for number, event in enumerate(real, start=len(real) + 1):
        new = copy.deepcopy(event)
        new["value"] |= {"round": number, "silent_s": event["value"]["silent_s"] * 40}
        new["value"]["value"] *= 20
        lines.insert(at, new)


ATTACKS = {
    "ranks that do not exist outvote an error": Attack(
        "07", lambda ls: outvoted(ls, rank=9), Code.NEVER_WRITTEN, most=0),
    "the other rank outvotes an error": Attack(
        "10", lambda ls: outvoted(ls, rank=1), Code.NEVER_WRITTEN, most=0),
    "two rounds disturbed": Attack("07", disturbed, most=1.5),
    "as many rounds again, all better": Attack("07", more_rounds, Code.PARTS_EXCEED_RUN),
}  # fmt: skip


def graded(lesson: str, lines: Lines) -> tuple[float, set[str], str]:
    """Return the points for speed, the findings, and the evidence level without accounting."""
    runs = read_bytes({f"{lesson}_speed_1234.out": forge.written(lines).encode()})
    judged = judge(
        HandIn(rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml"), runs, {}, None, "smoke")
    )
    found = examine.examine(runs, runs)
    codes = {note.code for note in (*judged.findings, *found.findings)}
    [points] = [check.score for check in judged.checks if check.id == "speed"]
    return points, codes, found.tier


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_gains_nothing_or_is_seen(attack):
    lines = forge.kept(attack.lesson, "speed")
    _, honest, _ = graded(attack.lesson, lines)
    attack.change(lines)
    after, codes, tier = graded(attack.lesson, lines)
    assert attack.code not in honest
    assert after <= attack.most
    assert not attack.code or attack.code in codes
    assert tier in ("contradicted", "self-consistent")
