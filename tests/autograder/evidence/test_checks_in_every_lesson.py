"""Checks of evidence find nothing in real outputs of every lesson."""

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.accounting import AccountedJob
from autograder.evidence.checks import known_data
from lessons.toolkit.data import catalogue
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import KEPT, Lines, events
from tests.autograder.in_memory import read_bytes
from tests.lessons.planted import kept
from tests.lessons.planted.plants import LESSONS as PLANTED

LESSONS = sorted(folder.name for folder in KEPT.iterdir() if folder.is_dir())
RIGHT = [
    (number, kept.file_of(lesson, name).name.removesuffix(".out.txt"))
    for number, lesson in PLANTED.items()
    for name, job in lesson.honest.items()
    if job.start not in ("elastic", "shards")  # which have fewer ranks than `as_job` says
]
# The only findings that planted mistakes may cause. Honest work must cause none.
OF_MISTAKES = (Code.NEVER_WRITTEN, Code.OTHER_RANK_COUNT, Code.SAMPLES_IMPOSSIBLE)
# Weak scaling with a plan in which two ranks do the work of one (12.1).
OF_SCALING = (*OF_MISTAKES, Code.SHARE_BEYOND_ONE)
# Two processes that no launcher started do not know that they are one run.
BY_HAND = (*OF_MISTAKES, Code.RANK_MISSING)
OF_LESSON = {"00": BY_HAND, "12": OF_SCALING}


def codes(files: dict[str, str]) -> list[Code | None]:
    runs = read_bytes({name: text.encode() for name, text in files.items()})
    return [finding.code for finding in examine.examine(runs, runs).findings]


def test_each_lesson_has_honest_runs():
    assert {lesson for lesson, _ in RIGHT} == set(PLANTED)


def as_job(lesson: str, job: str) -> Lines:
    lines = forge.kept(lesson, job)
    return forge.as_job(lines, 1234, f"{lesson}_job") if any(events(lines, "header")) else lines


def accounted(lines: Lines) -> dict[str, AccountedJob]:
    """Return what the scheduler knows about the job that printed these lines."""
    times = [event["time_ms"] / 1000 for event in events(lines)]
    ranks = max(event["value"]["world_size"] for event in events(lines, "header"))
    hosts = frozenset(event["value"]["host"] for event in events(lines, "rank"))
    start, end = min(times) - 12, max(times) + 3  # imports, and the end of the step
    job = AccountedJob("1234", "ada", "COMPLETED", start, end, ranks, 0, hosts, end - start)
    return {"1234": job}


@pytest.mark.parametrize(("lesson", "job"), RIGHT)
def test_nothing_is_said_of_honest_runs(lesson, job):
    assert codes({"a.out": forge.written(forge.kept(lesson, job))}) == []
    lines = as_job(lesson, job)
    runs = read_bytes({f"{lesson}_job_1234.out": forge.written(lines).encode()})
    known = accounted(lines) if any(events(lines, "header")) else None
    for jobs in (None, known):
        assert examine.examine(runs, runs, jobs, ["ada"]).findings == ()


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_new_is_said_of_mistakes(lesson):
    """All outputs of a lesson are one submission: many runs share a seed, and many went wrong."""
    files = {
        file.name.removesuffix(".txt"): file.read_text("utf-8").partition("\n")[2]
        for file in (KEPT / lesson).glob("*.txt")
    }
    assert set(codes(files)) <= set(OF_LESSON.get(lesson, OF_MISTAKES))


def test_the_data_sets_are_those_of_the_catalogue():
    for name, known in known_data().items():
        entry = catalogue.entry(name)
        assert known.sha256 == entry.sha256
        assert (known.train_samples, known.test_samples) == (
            entry.train_samples, entry.test_samples)  # fmt: skip
