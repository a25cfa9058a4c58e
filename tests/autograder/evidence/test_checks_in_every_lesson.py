"""Each check of evidence is applied to real outputs of every lesson.

It finds nothing in unchanged outputs, and something in each output changed in what it checks.
"""

from collections.abc import Callable

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.plausible import known_data
from autograder.reading.files import read_bytes
from lessons.toolkit.data import catalogue
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import KEPT, Lines, events, put

LESSONS = sorted(folder.name for folder in KEPT.iterdir() if folder.is_dir())
RIGHT = [(file.parent.name, file.name.removesuffix(".out.txt"))
    for file in sorted(KEPT.glob("*/*.out.txt"))
    if file.name.startswith(("right", "one-rank", "the-sweep", "sixteen"))
    or file.name in ("keras.out.txt", "torch.out.txt")]  # fmt: skip
# The only findings that planted mistakes may cause. Honest work must cause none.
OF_MISTAKES = (
    Code.NEVER_WRITTEN,
    Code.DIVERGED,
    Code.OTHER_RANK_COUNT,
    Code.SHARES_TOO_SMALL,
    Code.MORE_SAMPLES_THAN_SET,
    # Workers that never met, and a rank alone next to two that did not communicate either.
    Code.HASHES_AND_SPREAD,
    Code.SAME_LOSSES,
    # Weak scaling with a plan in which two ranks do the work of one (12.1).
    Code.SPEEDUP_BEYOND_RANKS,
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


def has(*keys: str) -> Callable[[Lines], bool]:
    return lambda lines: all(any(events(lines, key)) for key in keys)


def evaluates(lines: Lines) -> bool:
    return any(e["metadata"].get("split") == "test" for e in events(lines, "eval_accuracy"))


def prints(start: str) -> Callable[[Lines], bool]:
    return lambda lines: any(isinstance(line, str) and start in line for line in lines)


def keras(lines: Lines) -> bool:
    return prints("s - loss: ")(lines)


def trains(lines: Lines) -> bool:
    return has("epoch_stop")(lines)


def is_timed(lines: Lines) -> bool:
    """Return whether the clock constrains the epochs' seconds.

    Evaluation may take place between an epoch's lines, so only long runs do.
    """
    first = next(iter(forge.runs_in(lines).values()))
    began, ended = (
        [e["time_ms"] for e in events(first, key)] for key in ("epoch_start", "epoch_stop")
    )
    later = sum(ended[1:]) - sum(began[1:])
    return trains(first) and (later > 6000 or len(list(events(first, "eval_accuracy"))) < 2)


def of_data(lines: Lines) -> bool:
    """Return whether the run names a data set that is the same everywhere; pydoc_topics is not."""
    dataset = forge.one(lines, "header")["value"].get("dataset") or {}
    return dataset.get("name") in known_data()


def settles(lines: Lines) -> bool:
    """Return whether all epochs must be there, with losses that tell one run from another."""
    return trains(lines) and forge.one(lines, "header")["value"]["source"] != "gap"


def data(lines: Lines, **facts: object) -> None:
    for event in events(lines, "header"):
        event["value"]["dataset"] |= facts


def last_epochs_away(lines: Lines) -> None:
    for number in range(1, 100):
        forge.without_epoch(lines, number) if number > 1 else None


def several_epochs(lines: Lines) -> bool:
    asked = forge.one(lines, "header")["value"]
    return settles(lines) and asked["epochs_asked"] > asked["world_size"]


def twice(lines: Lines, change: Callable[[Lines], None]) -> None:
    """Append the first run a second time, under another id and an hour later."""
    first = next(iter(forge.runs_in(lines).values()))
    again = forge.parsed(forge.written(first))
    forge.new_id(again)
    forge.later(again, 3600)
    change(again)
    lines += again


def precise(lines: Lines) -> bool:
    """Return whether at least three times have digits of microseconds."""
    first = next(iter(forge.runs_in(lines).values()))
    seconds = [e["value"]["seconds"] for e in events(first, "epoch_stop", "run_stop")]
    return sum(s >= 0.01 for s in seconds) >= 3


def has_losses(lines: Lines) -> bool:
    first = next(iter(forge.runs_in(lines).values()))
    return sum(bool(e["value"].get("loss")) for e in events(first, "epoch_stop")) >= 2


# The expected finding -> which outputs it can be provoked in, and how their lines are changed.
CHANGED = {
    Code.FEWER_EPOCHS_THAN_ASKED: (several_epochs, last_epochs_away),
    Code.DATA_IS_ANOTHER: (of_data, lambda ls: data(ls, sha256="1" * 64)),
    Code.DATA_HASH_AND_NAME: (of_data, lambda ls: data(ls, synthetic=True)),
    Code.DATA_TOO_SMALL: (of_data, lambda ls: data(ls, train_samples=60_001)),
    Code.SAME_SECONDS: (precise, lambda ls: twice(ls, lambda run: None)),
    Code.SAME_LOSSES: (
        has_losses, lambda ls: twice(ls, lambda run: (forge.jittered(run), put(run, "run_stop",
            seconds=lambda s: s + 0.0003), put(run, "header", seed=77)))),
    Code.SAME_PARAMETERS: (
        evaluates, lambda ls: twice(ls, lambda run: (forge.jittered(run), put(run, "run_stop",
            seconds=lambda s: s + 0.0003, test_accuracy=0.999), eval_to(run, 0.999)))),
}  # fmt: skip


def eval_to(lines: Lines, accuracy: float) -> None:
    for event in events(lines, "eval_accuracy"):
        event["value"] = accuracy


CASES = [
    pytest.param(lesson, code, id=f"{lesson}-{code}")
    for lesson in LESSONS
    for code, (applies, _) in CHANGED.items()
    if any(applies(as_job(*right)) for right in RIGHT if right[0] == lesson)
]


def test_a_check_has_most_lessons():
    """Known exceptions: the outputs of 00 and 04 train no network, and 06 prints no test."""
    # 09 to 16 print no line of an epoch that could be compared with the record.
    missing = {(lesson, code) for lesson in LESSONS for code in CHANGED} - {
        case.values for case in CASES
    }
    not_asked = {"00", "03", "04", "05", "06", "08", "09", "10", "11", "12", "13", "14", "15", "16"}
    assert {lesson for lesson, _ in missing} <= not_asked
    assert all(("01", code) not in missing and ("07", code) not in missing for code in CHANGED)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "code"), CASES)
def test_what_was_changed_is_seen(lesson, code):
    applies, change = CHANGED[code]
    expected = {code}
    for right in RIGHT:
        if right[0] == lesson and applies(as_job(*right)):
            lines = as_job(*right)
            change(lines)
            found = codes({f"{lesson}_job_1234.out": forge.written(lines)})
            assert not expected.isdisjoint(found), (right, found)


def test_the_data_sets_are_those_of_the_catalogue():
    for name, known in known_data().items():
        entry = catalogue.entry(name)
        assert known.sha256 == entry.sha256
        assert (known.train_samples, known.test_samples) == (
            entry.train_samples, entry.test_samples)  # fmt: skip
