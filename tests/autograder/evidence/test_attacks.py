"""Attacks on the grader itself, made from outputs of real jobs and sealed again.

Each row says what a forger does, the check that it aims at, and what the grader must say. Attacks
that nothing but a person or a rerun can find are in UNSEEN, so nobody forgets them.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.accounting_dump import read_accounting
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.reading.files import read_bytes
from autograder.settings import rubric
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import Lines, events


@dataclass(frozen=True)
class Attack:
    lesson: str
    job: str  # the real output that is changed
    check: str  # of the rubric
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
        event["value"]["value"] *= 0.2 if number in (3, 7) else 1.8


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
    "ranks that do not exist outvote an error": Attack("07", "speed", "speed",
        lambda ls: outvoted(ls, rank=9), Code.NEVER_WRITTEN, most=0),
    "the other rank outvotes an error": Attack("10", "speed", "speed",
        lambda ls: outvoted(ls, rank=1), Code.NEVER_WRITTEN, most=0),
    "two rounds disturbed": Attack("07", "speed", "speed", disturbed, most=1.5),
    "as many rounds again, all better": Attack("07", "speed", "speed", more_rounds,
        Code.PARTS_EXCEED_RUN),
}  # fmt: skip
UNSEEN = {
    "all rounds and the clock / 3": Attack("07", "speed", "speed",
        lambda ls: forge_clock(ls, 1 / 3)),
}  # fmt: skip


def forge_clock(lines: Lines, times: float) -> None:
    """Scale all seconds of a speed job and its clock, as on a slower or faster machine."""
    forge.slowed(lines, times)
    for event in measures(lines, "round"):
        for name in ("value", "alone_s", "silent_s"):
            event["value"][name] *= times


def graded(lesson: str, lines: Lines, check: str) -> tuple[float, set[str], str]:
    """Return the points of a check, the findings, and the evidence level without accounting."""
    runs = read_bytes({f"{lesson}_speed_1234.out": forge.written(lines).encode()})
    asked = rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml")
    judged = judge(HandIn(asked, runs, {}, None, "smoke"))
    found = examine.examine(runs, runs)
    codes = {one.code for one in (*judged.findings, *found.findings)}
    [points] = [one.score for one in judged.checks if one.id == check]
    return points, codes, found.tier


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_gains_nothing_or_is_seen(attack):
    lines = forge.kept(attack.lesson, attack.job)
    _, honest, _ = graded(attack.lesson, lines, attack.check)
    attack.change(lines)
    after, codes, tier = graded(attack.lesson, lines, attack.check)
    assert attack.code not in honest
    assert after <= attack.most
    assert not attack.code or attack.code in codes
    assert tier in ("contradicted", "self-consistent")


@pytest.mark.parametrize("attack", UNSEEN.values(), ids=UNSEEN)
def test_what_only_a_rerun_can_find_is_known(attack):
    lines = forge.kept(attack.lesson, attack.job)
    attack.change(lines)
    assert not graded(attack.lesson, lines, attack.check)[1] & set(Code) - {Code.SYNTHETIC_DATA}


def test_a_job_that_burns_time_for_an_invented_record_remains_unseen(tmp_path):
    """Accounting shows how much a job computed, and not what. docs/evidence.md says so."""
    lines = forge.as_job(forge.kept("07", "right"), 77, "07_keras")
    times = [event["time_ms"] // 1000 for event in events(lines)]
    (tmp_path / "sacct.txt").write_text(
        "JobID|User|JobName|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList|TotalCPU|MaxRSS\n"
        f"77|ada|07_keras|COMPLETED|{min(times) - 9}|{max(times) + 3}|1|2|cpu=2|vm|01:30.000|\n"
    )
    runs = read_bytes({"a.out": forge.written(lines).encode()})
    jobs = read_accounting(tmp_path / "sacct.txt")
    assert examine.examine(runs, runs, examine.Sources(jobs, ["ada"])).tier == "confirmed"
