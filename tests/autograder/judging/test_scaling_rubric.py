"""The rubric of lesson 12 on whole submissions, in both profiles.

Correct work earns all points, and each missing part loses its own.
"""

import pytest

from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.records import Where
from autograder.settings import rubric
from autograder.submissions.answers import WrittenAnswer
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.make_study import lines_of

FILE = rubric.FOLDER / "12.yaml"
RUBRIC = rubric.load_rubric(FILE)
EXPECTED = rubric.load_expected(rubric.FOLDER / "expected" / "12.yaml", RUBRIC)
SIZES = {"smoke": (1, 2), "full": (1, 2, 4, 8)}
SAMPLES = {"smoke": 1280, "full": 60000}


def seconds(kind, sizes):
    """Return six rounds, each a little slower than the one before."""
    grown = [p if kind == "weak" else 1 for p in sizes]
    return [
        tuple(
            round(n * 8.0 / p**0.95 * (1 + i / 100), 6) for n, p in zip(grown, sizes, strict=True)
        )
        for i in range(6)
    ]


def study_lines(kind, sizes, times=None, **more):
    times = times or seconds(kind, sizes)
    silent = [times[i][0] * (1.02 + i / 1000) for i in range(len(times))]
    quiet = {"silent": silent} if kind == "weak" else {}
    work = {
        "strong": lambda p: (64 // p, 2048),
        "epoch": lambda p: (64, 2048),
        "weak": lambda p: (64, 2048 * p),
    }
    run = {"strong": "1", "epoch": "2", "weak": "3"}[kind] + "f0c2a91"
    return lines_of(kind, times, sizes=sizes, run=run, **{"work": work[kind]} | quiet | more)


def measures(**values):
    return tuple({"name": name, "value": values[name], "unit": ""} for name in values)


PROGRAM = {"main": "train.py", "files": {"train.py": "a" * 16}}


def probe(**values):
    values = {"probe_error": 1e-15, "probe_spread": 0.0, **values}
    return make_record(
        lesson="12", source="probe", size=2, seconds=(), run="7a0c2a91", test_accuracy=None,
        epochs_asked=None, measures=measures(**values), program=PROGRAM,
    )  # fmt: skip


def training(number, profile, size, kind, batch, *, step_images=None, **more):
    facts = {
        "lesson": "12", "source": "ddp", "model": "cnn", "params": 1199882, "size": size,
        "scaling": kind, "batch": batch, "samples": SAMPLES[profile], "run": f"{number}a0c2a91",
        "train_samples": SAMPLES[profile], "test_accuracy": 0.97, "started_by": ["mpirun"],
        "measures": measures(step_images=step_images or batch), "program": PROGRAM,
    }  # fmt: skip
    return make_record(**facts | more)


def records(profile, **changed):
    """Return the files of a submission; `changed` replaces the lines of some of them."""
    sizes = SIZES[profile]
    params = {"smoke": 272282, "full": 27006890}[profile]
    files = {kind: study_lines(kind, sizes, params=params) for kind in ("strong", "epoch", "weak")}
    files |= {
        "one": training(4, profile, 1, "serial", 64),
        "same": training(5, profile, 2, "strong", 32),
        "grown": training(6, profile, 2, "epoch", 64),
        "probe": probe(),
    }
    files |= changed
    return read_bytes({f"{name}.out": "\n".join(text).encode() for name, text in files.items()})


def answers_of(runs):
    given = {}
    for key, question in RUBRIC.answers.items():
        truth = EXPECTED.get(key, "0.9")
        if question.kind == "interval":
            truth = f"{0.9 * truth:g} to {1.1 * truth:g}"
        elif question.metric:
            asked = METRICS[question.metric]
            name = {"epoch": "study", "one": "ddp"}[question.of]
            of = [
                run for run in runs
                if run.header["source"] == name
                and (run.header["scaling"] == "epoch" if name == "study" else run.workers == 1)
            ]  # fmt: skip
            try:
                found = asked.function(of if asked.all_runs else of[-1], question.at)
                truth = f"{found.value:.6g}"
            except NotMeasured:
                truth = "1"
        given[key] = WrittenAnswer(str(truth), Where("answers.txt", 1))
    return given


def judged(profile, runs=None, **changed_answers):
    runs = runs or records(profile)
    answers = answers_of(runs) | {
        key: WrittenAnswer(text, Where("answers.txt", 1)) for key, text in changed_answers.items()
    }
    hand_in = HandIn(RUBRIC, runs, answers, profile, EXPECTED)
    return {check.id: check for check in judge.judge(hand_in).checks}


@pytest.mark.parametrize("profile", ["smoke", "full"])
def test_what_is_right_earns_all(profile):
    checks = judged(profile)
    lost = {name: check.actual for name, check in checks.items() if check.score < check.points}
    # There is no report.
    assert set(lost) == {"report", "faster"}, lost
    assert checks["answers"].score > 0.8
    assert ("laws-full" in checks) == (profile == "full")


def test_own_laws_are_fitted_to_the_own_study():
    assert judged("full", own_f="0.9")["laws-full"].score == pytest.approx(13 / 14, abs=1e-3)


STUDIES = {
    "strong, the local batch kept": ("strong", {"work": lambda p: (64, 2048)}, "study", "1 size"),
    "weak, no more data": ("weak", {"work": lambda p: (64, 2048)}, "study", "1 size"),
    "hardly any images": ("strong", {"work": lambda p: (32 // p, 32)}, "study", "32 samples"),
    "a small batch": ("strong", {"work": lambda p: (16 // p, 2048)}, "study", "size smallest"),
    "nothing moved": ("epoch", {"moved": 0.0}, "study", "parameters in a pass: 0"),
    "ranks apart": ("epoch", {"spread": 0.1}, "study", "parameter between ranks: 0.1"),
    "no spread": ("epoch", {"spread": "nan"}, "study", "spread"),
    "by hand": ("epoch", {"started_by": []}, "study", "launcher started the ranks: no"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_other_work_earns_nothing(name):
    kind, more, check, words = STUDIES[name]
    if name == "by hand":
        lines = [line.replace('["mpirun"]', "[]") for line in study_lines(kind, (1, 2))]
    else:
        lines = study_lines(kind, (1, 2), **more)
    found = judged("smoke", records("smoke", **{kind: lines}))[check]
    assert found.score == 0
    assert words in found.actual
    assert found.advice


def test_three_rounds_are_too_few():
    lines = study_lines("epoch", (1, 2), seconds("epoch", (1, 2))[:3])
    assert judged("smoke", records("smoke", epoch=lines))["study"].score == 0


def test_speed_is_the_share_of_what_silent_copies_do():
    slow = [(8.0, 20.0 + i / 10) for i in range(6)]
    found = judged("smoke", records("smoke", weak=study_lines("weak", (1, 2), slow)))["speed"]
    assert 0 <= found.score < 0.3
    assert "share of the ceiling" in found.expected


TRAININGS = {
    "strong, the local batch kept": ("same", (2, "strong", 64), {}, "batch size of all ranks"),
    "epoch, the batch divided": ("grown", (2, "epoch", 32), {}, "batch size on one rank"),
    "other accuracy": (
        "same", (2, "strong", 32), {"test_accuracy": 0.93}, "accuracy, difference to `one`",
    ),
    "nothing learnt": ("grown", (2, "epoch", 64), {"test_accuracy": 0.2}, "test accuracy"),
    "nothing moved": (
        "one", (1, "serial", 64), {"end": {"param_moved": 0.0}}, "largest change in a parameter",
    ),
    "ranks apart": (
        "grown", (2, "epoch", 64), {"end": {"param_spread": 0.1}}, "parameter between ranks: 0.1",
    ),
    "a part of each batch": (
        "grown", (2, "epoch", 64), {"step_images": 16}, "entered the network",
    ),
    "fewer images": ("same", (2, "strong", 32), {"samples": 640}, "different samples read"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_that_is_not_the_one_asked_for(name):
    which, (size, kind, batch), more, words = TRAININGS[name]
    lines = training(7, "smoke", size, kind, batch, **more)
    found = judged("smoke", records("smoke", **{which: lines}))["accuracy"]
    assert found.score < 1
    assert words in found.actual


@pytest.mark.parametrize(
    ("values", "words"),
    [({"probe_error": 0.7}, "one process computed"), ({"probe_spread": 0.1}, "of the probe: 0.1")],
)
def test_a_probe_that_finds_a_mistake(values, words):
    found = judged("smoke", records("smoke", probe=probe(**values)))["accuracy"]
    assert found.score < 1
    assert words in found.actual


def test_a_wrong_interval_loses_its_share():
    wrong = "7 to 8"
    checks = judged("smoke", foretold_megascale=wrong, foretold_a100_minutes="3 to 4")
    assert checks["foretelling"].score == pytest.approx(5 / 6, abs=1e-4)
