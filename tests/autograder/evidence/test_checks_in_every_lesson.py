"""Each check of evidence is applied to real outputs of every lesson.

It finds nothing in unchanged outputs, and something in each output changed in what it checks.
"""

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.checks import known_data
from autograder.reading.files import read_bytes
from lessons.toolkit.data import catalogue
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import KEPT, Lines, events

LESSONS = sorted(folder.name for folder in KEPT.iterdir() if folder.is_dir())
RIGHT = [(file.parent.name, file.name.removesuffix(".out.txt"))
    for file in sorted(KEPT.glob("*/*.out.txt"))
    if file.name.startswith(("right", "one-rank", "the-sweep", "sixteen"))
    or file.name in ("keras.out.txt", "torch.out.txt")]  # fmt: skip
# The only findings that planted mistakes may cause. Honest work must cause none.
OF_MISTAKES = (
    Code.NEVER_WRITTEN,
    Code.OTHER_RANK_COUNT,
    Code.SAMPLES_IMPOSSIBLE,
    # Weak scaling with a plan in which two ranks do the work of one (12.1).
    Code.SHARE_BEYOND_ONE,
)


def codes(files: dict[str, str]) -> list[Code | None]:
    runs = read_bytes({name: text.encode() for name, text in files.items()})
    return [finding.code for finding in examine.examine(runs, runs).findings]


def as_job(lesson: str, job: str) -> Lines:
    lines = forge.kept(lesson, job)
    return forge.as_job(lines, 1234, f"{lesson}_job") if any(events(lines, "header")) else lines


def test_the_lessons_are_here():
    assert {lesson for lesson, _ in RIGHT} == set(LESSONS) >= {"01", "03", "06", "07", "09"}


@pytest.mark.parametrize(("lesson", "job"), RIGHT)
def test_nothing_is_said_of_honest_runs(lesson, job):
    assert codes({"a.out": forge.written(forge.kept(lesson, job))}) == []
    assert codes({f"{lesson}_job_1234.out": forge.written(as_job(lesson, job))}) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_new_is_said_of_mistakes(lesson):
    """All outputs of a lesson are one submission: many runs share a seed, and many went wrong."""
    files = {
        file.name.removesuffix(".txt"): file.read_text("utf-8").partition("\n")[2]
        for file in (KEPT / lesson).glob("*.txt")
    }
    assert set(codes(files)) <= set(OF_MISTAKES)


# --- changed ----------------------------------------------------------------------------------


def has_known_data(lines: Lines) -> bool:
    """Return whether the run names a data set that is the same everywhere; pydoc_topics is not."""
    dataset = forge.one(lines, "header")["value"].get("dataset") or {}
    return dataset.get("name") in known_data()


def data(lines: Lines, **facts: object) -> None:
    for event in events(lines, "header"):
        event["value"]["dataset"] |= facts


def twice(lines: Lines) -> None:
    """Append the first run a second time, under another id and an hour later."""
    again = forge.parsed(forge.written(next(iter(forge.runs_in(lines).values()))))
    forge.new_id(again)
    lines += forge.later(again, 3600)


def has_precise_times(lines: Lines) -> bool:
    first = next(iter(forge.runs_in(lines).values()))
    seconds = [e["value"]["seconds"] for e in events(first, "epoch_stop", "run_stop")]
    return sum(s >= 0.01 for s in seconds) >= 3


# The expected finding -> which outputs it can be provoked in, and how their lines are changed.
CHANGED = {
    Code.DATA_IS_ANOTHER: (has_known_data, lambda ls: data(ls, sha256="1" * 64)),
    Code.SAMPLES_IMPOSSIBLE: (has_known_data, lambda ls: data(ls, train_samples=60_001)),
    Code.SAME_SECONDS: (has_precise_times, twice),
}


@pytest.mark.slow
@pytest.mark.parametrize("code", CHANGED)
@pytest.mark.parametrize(("lesson", "job"), RIGHT)
def test_what_was_changed_is_seen(lesson, job, code):
    applies, change = CHANGED[code]
    lines = as_job(lesson, job)
    applied = any(events(lines, "header")) and applies(lines)
    assert applied or lesson not in ("01", "07")
    if applied:
        change(lines)
        assert code in codes({f"{lesson}_job_1234.out": forge.written(lines)})


def test_the_data_sets_are_those_of_the_catalogue():
    for name, known in known_data().items():
        entry = catalogue.entry(name)
        assert known.sha256 == entry.sha256
        assert (known.train_samples, known.test_samples) == (
            entry.train_samples, entry.test_samples)  # fmt: skip
