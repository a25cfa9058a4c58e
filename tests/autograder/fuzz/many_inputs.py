"""Read outputs made at random from the lines of all formats, by the million.

    python tests/autograder/fuzz/many_inputs.py --count 1000000 --jobs 16

Each input is read alone or in one file with an unrelated run. Nothing may raise, measuring must be
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

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from autograder.reading.files import read_bytes  # noqa: E402
from autograder.reading.formats import template  # noqa: E402
from autograder.records import Run  # noqa: E402
from tests.autograder.fuzz.guided import examples, mutate  # noqa: E402
from tests.autograder.fuzz.invariants import check_facts, read_and_check  # noqa: E402
from tests.autograder.make_record import make_record  # noqa: E402

OTHERS = b"""\
slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***
Traceback (most recent call last):
  File "train.py", line 1, in <module>
ValueError: shapes do not match
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
usage: train.py [-h] [--epochs N]
train.py: error: unrecognized arguments: --epoch 3
job.sh: line 12: python: command not found
 Model ResNet50 4 GPUs
Num_replicas: 4
Batch_size: 8192
Step 10: Minibatch Loss= 0.31, Training Accuracy= 0.96, 959 Examples/sec
Loss: 1.25 | Acc: 55.3% (553/1000)
epoch=3 loss=0.25 acc=0.91 time=12.5s
{"epoch": 3, "train_loss": 0.25, "seconds": 12.5}
2026-03-02 10:00:00,123 INFO epoch 3 begins
epoch  train_loss  val_acc  seconds
    3        0.25     0.91     12.5
it 100: 231.5 ms
World size: 4
"""
KERAS = b"""\
Epoch 1/2
98/98 - 3s - loss: 0.7431 - accuracy: 0.7123 - 3s/epoch - 30ms/step
Epoch 2/2
98/98 - 2s - loss: 0.5219 - accuracy: 0.8017 - 2s/epoch - 20ms/step
"""
PIECES = (
    *(
        "loss ",
        "epoch",
        "x",
        " {any} a",
        ", ",
        " {train_loss}",
        "{epoch}",
        "/{of}",
        " %",
        "{{",
        ": ",
    ),
    *("{seconds} s", "{val_accuracy}%", "{done}", "{begins}", " ms", "{", "}", "{nothing}"),
)


@cache
def seeds() -> list[bytes]:
    found = examples()
    lines = OTHERS.splitlines(keepends=True)
    return [*found, OTHERS, KERAS, *(b"".join(lines[at : at + 4]) for at in range(len(lines)))]


@cache
def record() -> tuple[bytes, Run]:
    text = ("\n".join(make_record(size=2)) + "\n").encode()
    (run,) = read_bytes({"job.out": text})
    assert run.outcome == "completed"
    return text, run


@cache
def keras() -> list[float]:
    return losses(read_bytes({"job.out": KERAS})[0])


def losses(run: Run) -> list[float]:
    return [epoch.train_loss.value for epoch in run.epochs if epoch.train_loss]


def one_input(dice: random.Random) -> bytes:
    """Return damaged pieces of outputs, one after the other or interleaved."""
    parts = [mutate(dice.choice(seeds()), seeds(), dice) for _ in range(dice.randrange(1, 4))]
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


CHECKS = (check_alone, check_beside_a_record, check_before_a_printed_run, check_template)


def run_inputs(work: tuple[int, int]) -> list[str]:
    """Check the given number of inputs from a seed, and return the failures in words."""
    seed, count = work
    found = []
    for number in range(count):
        dice = random.Random(f"{seed} {number}")
        data = one_input(dice)
        check = CHECKS[number % len(CHECKS)]
        try:
            check(data, dice)
        except Exception:
            path = ROOT / "build" / f"fuzz-{check.__name__}-{seed}-{number}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            found.append(f"{path}:\n{traceback.format_exc(limit=-2)}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    each = 500
    work = [(args.seed * 10**6 + n, each) for n in range(-(-args.count // each))]
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
