"""Ten students of a term, and what each submits for a lesson: outputs and answers.

The outputs are saved outputs of real runs, changed so that each is the student's own run.
"""

from collections.abc import Mapping
from hashlib import blake2b
from statistics import median

from autograder.settings import rubric
from tests.autograder.evidence.rewriting import (
    Lines,
    as_job,
    events,
    kept,
    later,
    new_id,
    parsed,
    put,
    slowed,
    written,
)

Files = dict[str, bytes]

# Student -> name, Canvas's number, Moodle's number, login at GitHub.
PEOPLE: Mapping[str, tuple[str, str, str, str]] = {
    "ada": ("Ada Lovelace", "101", "4701", "ada-l"),
    "ben": ("Ben Meyer", "102", "4702", "Benmey"),
    "dan": ("Dan O'Neill", "103", "4703", "dan-o"),
    "eva": ("Eva Lindqvist", "104", "4704", "evalind"),
    "finn": ("Finn Müller-Groß", "105", "4705", "fmg"),
    "gil": ("Gil Ferreira", "106", "4706", "gilf"),
    "hana": ("Hana Sato", "107", "4707", "hsato"),
    "ivo": ("İvo Öztürk", "108", "4708", "ivo-oz"),
    "kim": ("Kim Nobody-Else", "109", "4709", "kne"),
    "zoe": ("Zoë Lee-Wei", "110", "4710", "zlw"),
}

# Lesson -> the outputs that it asks for, and the saved run behind each.
RUNS = {
    "01": {"01_numpy_{job}.out": "right"},
    "02": {"02_keras_{job}.out": "keras", "02_torch_{job}.out": "torch"},
    "07": {"07_speed_{job}.out": "speed", "07_1_{job}.out": "one-rank", "07_2_{job}.out": "right"},
}
# The speed of a student's two ranks relative to silent ones, where it is not the saved run's.
SHARE = {"ben": 0.62}

PREDICTED = {"word": "maybe", "number": "0.5", "prediction": "0.5"}


def own_run(lesson: str, job: str, student: str, number: int) -> Lines:
    """Return a saved run as the student's own: with another job, hour, speed and run id."""
    lines = kept(lesson, job)
    new_id(lines, hashed(f"{lesson} {number}", 4))
    place = list(PEOPLE).index(student)
    slower = 1 + (place + 1) / 97
    slowed(lines, slower)
    rounds = [event["value"] for event in events(lines, "measure")]
    rounds = [value for value in rounds if value["name"] == "round"]
    if rounds:  # whose seeds are drawn, so no two jobs end with the same parameters
        put(lines, "rank_end", param_hash=lambda text: hashed(f"{text} {student} {number}", 8))
    for at, value in enumerate(rounds):
        for name in ("alone_s", "silent_s", "value"):
            value[name] *= slower + at / 10_007
        if student in SHARE:
            value["value"] = value["silent_s"] / (SHARE[student] + at / 10_007)
    return as_job(later(lines, 3600 * place + 60 * number), number, f"{lesson}_{job}")


def hashed(text: str, size: int) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()


def outputs(lesson: str, student: str, again: int = 0, **other: str) -> Files:
    """Return the student's outputs of a lesson.

    `other` replaces some of the right runs with other saved runs; `again` marks a resubmission.
    """
    found = {}
    for at, (name, job) in enumerate(RUNS[lesson].items()):
        number = 10_000 * int(lesson) + 100 * list(PEOPLE).index(student) + 10 * again + at + 1
        lines = own_run(lesson, other.get(job, job), student, number)
        found[name.format(job=number)] = written(lines).encode()
    return found


def own_numbers(files: Files) -> dict[str, str]:
    """Return the answers that depend on the student's own runs, in lesson 02."""
    text = next((data for name, data in files.items() if name.startswith("02_keras")), b"")
    if not text:
        return {}
    epochs = [event["value"] for event in events(parsed(text.decode()), "epoch_stop")]
    seconds = [epoch["seconds"] for epoch in epochs[1:]]
    return {
        "keras_epoch_s": f"{median(seconds):.6f}",
        "keras_throughput": f"{epochs[0]['unique_samples'] / median(seconds):.1f}",
    }


def answers(lesson: str, files: Files) -> dict[str, str]:
    """Return the right answers for these outputs."""
    asked = rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml")
    expected = rubric.load_expected(rubric.FOLDER / "expected" / f"{lesson}.yaml", asked)
    known = {key: str(value) for key, value in expected.items()} | own_numbers(files)
    return {
        key: known.get(key) or PREDICTED[question.kind] for key, question in asked.answers.items()
    }


def as_text(given: Mapping[str, str]) -> bytes:
    return "".join(f"{key} = {value}\n" for key, value in given.items()).encode()


def work(lesson: str, student: str, **other: str) -> Files:
    """Return a complete submission of a lesson."""
    files = outputs(lesson, student, **other)
    return {**files, "answers.txt": as_text(answers(lesson, files)), "lesson.ipynb": b"{}"}


# --- honest mistakes ----------------------------------------------------------------------------


def from_a_terminal(files: Files, width: int = 100) -> Files:
    """Break the lines of outputs at the edge of a window, as if copied from a terminal."""
    done = dict(files)
    for name, data in files.items():
        if name.endswith(".out"):
            lines = data.decode().splitlines()
            cut = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
            done[name] = "\n".join(cut).encode()
    return done


def renamed(files: Files, old: str, new: str) -> Files:
    return {new if name == old else name: data for name, data in files.items()}


def below(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": data for name, data in files.items()}
