"""Read outputs made at random from the lines of all formats, or grade submissions, by the million.

    python -m tests.autograder.fuzz.many_inputs --count 1000000 --jobs 16
    python -m tests.autograder.fuzz.many_inputs --grading --count 10000

Each output is read alone or in one file with an unrelated run. Nothing may raise, measuring must be
able to rely on every run, and the unrelated run must keep its outcome. Random templates of a
rubric's own format read the same lines, too. Failing inputs are saved in build/, and the exit code
reports them.
"""

import argparse
import multiprocessing
import random
import sys
import time
import traceback
from functools import cache
from pathlib import Path

from autograder.reading.formats import template
from autograder.records import Run
from tests.autograder.fuzz.invariants import SAMPLES, check_facts, read_and_check
from tests.autograder.fuzz.submissions import grade_and_check
from tests.autograder.in_memory import read_bytes

BUILD = Path(__file__).parents[3] / "build"
KERAS = b"""\
Epoch 1/2
98/98 - 3s - loss: 0.7431 - accuracy: 0.7123 - 3s/epoch - 30ms/step
Epoch 2/2
98/98 - 2s - loss: 0.5219 - accuracy: 0.8017 - 2s/epoch - 20ms/step
"""
PIECES = (
    *("loss ", "epoch", "x", " {any} a", ", ", " {train_loss}", "{epoch}", "/{of}", " %", "{{"),
    *(": ", "{seconds} s", "{val_accuracy}%", "{done}", "{begins}", " ms", "{", "}", "{nothing}"),
)
ODD = b"\r", b"\n", b"\b" * 30, b"\0", b"nan", b'"', b"{", b":::MLLOG "


@cache
def seeds() -> list[bytes]:
    lines = SAMPLES["others"].splitlines(keepends=True)
    return [*SAMPLES.values(), KERAS, *(b"".join(lines[n : n + 4]) for n in range(len(lines)))]


@cache
def record() -> tuple[bytes, Run]:
    text = SAMPLES["record"] + b"\n"
    (run,) = read_bytes({"job.out": text})
    assert run.outcome == "completed"
    return text, run


@cache
def keras() -> list[float]:
    return losses(read_bytes({"job.out": KERAS})[0])


def losses(run: Run) -> list[float]:
    return [epoch.train_loss.value for epoch in run.epochs if epoch.train_loss]


def mutate(data: bytes, dice: random.Random) -> bytes:
    piece = bytearray(data)
    for _ in range(dice.randrange(1, 8)):
        at, length = dice.randrange(len(piece) + 1), dice.randrange(1, 60)
        other = dice.choice(seeds())
        start = dice.randrange(len(other) + 1)
        piece[at : at + dice.choice((0, 0, 1, length))] = dice.choice(
            (
                bytes([dice.randrange(256)]),
                other[start : start + length],
                bytes(piece[at : at + length]) * dice.randrange(1, 20),
                b"%d" % dice.choice((0, -1, 2**31, 10**20, dice.randrange(100))),
                dice.choice(ODD),
            )
        )
    return bytes(piece[:6000])


def an_output(dice: random.Random) -> bytes:
    """Return damaged pieces of outputs, one after the other or interleaved."""
    parts = [mutate(dice.choice(seeds()), dice) for _ in range(dice.randrange(1, 4))]
    if dice.random() < 0.3:
        lines = [line for part in parts for line in part.split(b"\n")][:60]
        dice.shuffle(lines)
        return b"\n".join(lines)
    return b"\n".join(parts)[:8000]


def check_alone(data: bytes, dice: random.Random) -> None:
    cut = dice.randrange(len(data) + 1) if dice.random() < 0.3 else len(data)
    files = {"a_1234.out": data[:cut]}
    read_and_check(files | {"a_1234.err": data[cut:]} if cut < len(data) else files)


def check_beside_a_record(data: bytes, dice: random.Random) -> None:
    """Check that a complete record reads the same, whatever comes before or after it."""
    text, alone = record()
    if b":::ML" in data:  # it may hold lines of the very same launch
        data = data.replace(b":::ML", b"::ML")
    whole = text + data if dice.random() < 0.5 else data + b"\n" + text
    runs = [run for run in read_bytes({"job.out": whole}) if run.launch == alone.launch]
    assert len(runs) == 1, "one launch"
    (run,) = runs
    for name in ("outcome", "workers", "chain_intact", "header", "end", "launch"):
        assert getattr(run, name) == getattr(alone, name), name
    assert [epoch.seconds and epoch.seconds.value for epoch in run.epochs] == [
        epoch.seconds and epoch.seconds.value for epoch in alone.epochs
    ]


def check_before_a_printed_run(data: bytes, dice: random.Random) -> None:
    """Check that a run that started over is read completely or not at all, whatever precedes it."""
    whole = data + b"\n" + b"INFO nothing more of it\n" * 3 + KERAS
    last_line = whole.count(b"\n")
    for run in read_bytes({"job.out": whole}):
        if run.format == "keras" and run.epochs and run.epochs[-1].where.line == last_line:
            assert losses(run)[-2:] == keras()


def check_template(data: bytes, dice: random.Random) -> None:
    source = "".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 9)))
    try:
        reader = template.load_reader("ours", [source])
    except template.BadTemplateError:
        return
    filled = "7".join(template.parts_of(source)[0])
    for line in (filled, *data.decode("utf-8", "replace").split("\n")[:5]):
        check_facts(reader.read(line))


def check_graded(data: bytes, dice: random.Random) -> None:
    grade_and_check(data)


READING = (check_alone, check_beside_a_record, check_before_a_printed_run, check_template)
GRADING = (check_graded,)


def run_inputs(work: tuple[int, int, tuple]) -> list[str]:
    """Check the given number of inputs from a seed, and return the failures in words."""
    seed, count, checks = work
    found = []
    for number in range(count):
        dice = random.Random(f"{seed} {number}")
        check = checks[number % len(checks)]
        data = dice.randbytes(dice.randrange(20, 400)) if check is check_graded else an_output(dice)
        try:
            check(data, dice)
        except Exception:
            path = BUILD / f"fuzz-{check.__name__}-{seed}-{number}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            found.append(f"{path}:\n{traceback.format_exc(limit=-2)}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grading", action="store_true")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    each, checks = (50, GRADING) if args.grading else (500, READING)
    work = [(args.seed * 10**6 + n, each, checks) for n in range(-(-args.count // each))]
    start, findings = time.monotonic(), 0
    with multiprocessing.Pool(args.jobs) as pool:
        for found in pool.imap_unordered(run_inputs, work):
            findings += len(found)
            for text in found[:3]:
                print(text, flush=True)
    seconds = time.monotonic() - start
    print(f"{len(work) * each} inputs in {seconds:.0f} s, {findings} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
