"""Each check of evidence on what real runs of every lesson printed: it says nothing of them as they
are, and something of each that was changed in what it looks at."""

from collections.abc import Callable

import pytest

from autograder.evidence import examine
from autograder.evidence.known_data import KNOWN
from autograder.reading.files import read_bytes
from lessons.toolkit.data import catalogue
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import KEPT, Lines, events, put

LESSONS = sorted(folder.name for folder in KEPT.iterdir() if folder.is_dir())
RIGHT = [(file.parent.name, file.name.removesuffix(".out.txt"))
    for file in sorted(KEPT.glob("*/*.out.txt"))
    if file.name.startswith(("right", "one-rank", "the-sweep", "sixteen"))
    or file.name in ("keras.out.txt", "torch.out.txt")]  # fmt: skip
# What planted mistakes earn, and no check of honest work may: these alone are told of them.
OF_MISTAKES = (
    "The record says something that the course's programs never write",
    "The training diverged and went on to its end",
    "Another number of ranks ran than was asked for",
    "The ranks' shares hold fewer samples than the epochs say were read",
    "An epoch says it read more different samples than there are",
    # Workers that never met, and a rank alone beside two that did not speak either.
    "The parameters' hashes and their spread disagree",
    "Two runs that were asked for unlike things have the same losses, to the last digit",
    # Weak scaling by a plan in which two ranks do the work of one (12.1).
    "The speedup is far beyond the number of ranks",
    "With an exchange the ranks are far faster than without",
)


def titles(files: dict[str, str]) -> list[str]:
    runs = read_bytes({name: text.encode() for name, text in files.items()})
    return [finding.title for finding in examine.examine(runs, runs).findings]


def as_job(lesson: str, job: str) -> Lines:
    lines = forge.kept(lesson, job)
    return forge.as_job(lines, 1234, f"{lesson}_job") if any(events(lines, "header")) else lines


def test_the_lessons_are_here():
    assert {lesson for lesson, _ in RIGHT} == set(LESSONS) >= {"01", "03", "06", "07", "09"}


@pytest.mark.parametrize(("lesson", "job"), RIGHT)
def test_nothing_is_said_of_honest_runs(lesson, job):
    assert titles({"a.out": forge.written(forge.kept(lesson, job))}) == []
    assert titles({f"{lesson}_job_1234.out": forge.written(as_job(lesson, job))}) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_new_is_said_of_mistakes(lesson):
    """All of a lesson's outputs as one hand-in: many runs with one seed, many gone wrong."""
    files = {
        file.name.removesuffix(".txt"): file.read_text("utf-8").partition("\n")[2]
        for file in (KEPT / lesson).glob("*.txt")
    }
    assert set(titles(files)) <= set(OF_MISTAKES)


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
    """Where evaluation may lie between an epoch's lines, only long runs say what it took."""
    first = next(iter(forge.runs_in(lines).values()))
    began, ended = (
        [e["time_ms"] for e in events(first, key)] for key in ("epoch_start", "epoch_stop")
    )
    later = sum(ended[1:]) - sum(began[1:])
    return trains(first) and (later > 6000 or len(list(events(first, "eval_accuracy"))) < 2)


def of_data(lines: Lines) -> bool:
    return bool(forge.one(lines, "header")["value"].get("dataset"))


def settles(lines: Lines) -> bool:
    """Whether all epochs have to be there, and their losses tell one run from another."""
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
    """The first run stands a second time under another id, an hour later."""
    first = next(iter(forge.runs_in(lines).values()))
    again = forge.parsed(forge.written(first))
    forge.new_id(again)
    forge.later(again, 3600)
    change(again)
    lines += again


def precise(lines: Lines) -> bool:
    """At least three seconds with digits of microseconds."""
    first = next(iter(forge.runs_in(lines).values()))
    seconds = [e["value"]["seconds"] for e in events(first, "epoch_stop", "run_stop")]
    return sum(s >= 0.01 for s in seconds) >= 3


def has_losses(lines: Lines) -> bool:
    first = next(iter(forge.runs_in(lines).values()))
    return sum(bool(e["value"].get("loss")) for e in events(first, "epoch_stop")) >= 2


# What is changed in the lines, where that is possible, and words of the finding that has to come.
CHANGED = {
    "evaluation and the run's end": (
        evaluates, lambda ls: put(ls, "run_stop", test_accuracy=0.999)),
    "different devices": (has("rank"), lambda ls: put(ls, "machine", device="NVIDIA H100")),
    "job saw none": (
        has("rank"), lambda ls: put(ls, "machine", "rank", device="NVIDIA H100 80GB HBM3")),
    "clock of its first line": (
        has("machine"), lambda ls: put(ls, "machine", started="2026-01-01T00:00:00+00:00")),
    "began before its job": (has("machine"), lambda ls: forge.later(ls, -7200)),
    "another job than": (has("machine"), lambda ls: put(ls, "machine", job_id="99")),
    "More ranks than the job had tasks": (
        has("rank_end"), lambda ls: forge.printed(ls, r"^ranks: \d+", "ranks: 0")),
    "another test accuracy": (
        lambda ls: prints("Test accuracy: ")(ls) or prints(": test accuracy")(ls),
        lambda ls: forge.printed(ls, r"([Tt]est accuracy:?) 0\.\d+", r"\1 0.1234")),
    "other epochs than its record": (
        lambda ls: keras(ls) or prints("Epoch 1: loss")(ls),
        lambda ls: put(ls, "epoch_stop", loss=lambda v: 2 * v)),
    "By the clock": (is_timed, lambda ls: put(ls, "epoch_stop", seconds=lambda s: s / 20)),
    "there is between its first and its last line": (
        has("run_stop"), lambda ls: put(ls, "run_stop", seconds=9999.0)),
    "Fewer epochs": (several_epochs, last_epochs_away),
    "and is another": (of_data, lambda ls: data(ls, sha256="1" * 64)),
    "hash and its name": (of_data, lambda ls: data(ls, synthetic=True)),
    "fewer samples than the record says": (of_data, lambda ls: data(ls, train_samples=60_001)),
    "same seconds": (precise, lambda ls: twice(ls, lambda run: None)),
    "unlike things have the same losses": (
        has_losses, lambda ls: twice(ls, lambda run: (forge.jittered(run), put(run, "run_stop",
            seconds=lambda s: s + 0.0003), put(run, "header", seed=77)))),
    "same parameters and unlike": (
        evaluates, lambda ls: twice(ls, lambda run: (forge.jittered(run), put(run, "run_stop",
            seconds=lambda s: s + 0.0003, test_accuracy=0.999), eval_to(run, 0.999)))),
}  # fmt: skip


def eval_to(lines: Lines, accuracy: float) -> None:
    for event in events(lines, "eval_accuracy"):
        event["value"] = accuracy


CASES = [
    pytest.param(lesson, words, id=f"{lesson}-{words}")
    for lesson in LESSONS
    for words, (applies, _) in CHANGED.items()
    if any(applies(as_job(*right)) for right in RIGHT if right[0] == lesson)
]


def test_a_check_has_most_lessons():
    """What does not apply is known: 00 and 04 as kept train no network, 06 prints no test."""
    # 09 to 12 print no line of an epoch that could be held against the record.
    missing = {(lesson, words) for lesson in LESSONS for words in CHANGED} - {
        case.values for case in CASES
    }
    not_asked = {"00", "03", "04", "05", "06", "08", "09", "10", "11", "12"}
    assert {lesson for lesson, _ in missing} <= not_asked
    assert all(("01", words) not in missing and ("07", words) not in missing for words in CHANGED)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "words"), CASES)
def test_what_was_changed_is_seen(lesson, words):
    applies, change = CHANGED[words]
    for right in RIGHT:
        if right[0] == lesson and applies(as_job(*right)):
            lines = as_job(*right)
            change(lines)
            found = titles({f"{lesson}_job_1234.out": forge.written(lines)})
            assert any(words in title for title in found), (right, found)


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_error_beside_success_is_seen(lesson):
    job = next(job for where, job in RIGHT if where == lesson)
    out = forge.written(as_job(lesson, job))
    name = f"{lesson}_job_1234"
    for error, seen in (
        ("Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no\n", True),
        ("slurmstepd: error: *** JOB 1234 ON vm CANCELLED AT 2026-11-22T10:00:00 DUE TO TIME LIMIT"
         " ***\n", True),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0.\n", True),
        ("WARNING: this line is a warning\n", False),
        ("Exception ignored in: <function X.__del__ at 0x7>\nTraceback (most recent call last):\n"
         "  File \"x.py\", line 1, in __del__\nAttributeError: 'NoneType'\n", False),
    ):  # fmt: skip
        found = titles({f"{name}.out": out, f"{name}.err": error})
        assert any("errors tell of a bad end" in title for title in found) == seen, error


def test_the_data_sets_are_those_of_the_catalogue():
    for name, known in KNOWN.items():
        entry = catalogue.entry(name)
        assert known.sha256 == entry.sha256
        assert (known.train_samples, known.test_samples) == (
            entry.train_samples, entry.test_samples)  # fmt: skip
